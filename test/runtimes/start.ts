import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire, isBuiltin } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { build, type Plugin } from 'esbuild'
import { ROOT } from '../kit/install.mjs'

export interface Started {
  readonly origin: string
  /** What the runtime has logged, where that can be read. */
  errors?(): string
  close(): Promise<unknown>
}

/** Starts a program on the runtime that is installed in `folder`. */
export type Start = (folder: string, program: string) => Promise<Started>

/** The entries of the installed package that stand for the sources. */
const ENTRIES: Readonly<Record<string, string>> = {
  [join(ROOT, 'src/index.ts')]: 'agentwire',
  [join(ROOT, 'src/agents/langgraph/langgraph.ts')]: 'agentwire/langgraph',
  [join(ROOT, 'src/messages/index.ts')]: 'agentwire/messages',
  [join(ROOT, 'adapters/hono.ts')]: 'agentwire/hono',
}

/** Programs run with the built package, as it was installed, and not with the sources. */
const installed = (folder: string, isBundled: boolean): Plugin => ({
  name: 'installed',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
      const entry = ENTRIES[join(resolveDir, path)]
      if (!entry) return undefined
      return isBundled ? resolve(entry, { resolveDir: folder, kind }) : { path: entry, external: true }
    })
  },
})

/** Modules of Node that packages load by `require`, or without `node:`. */
const builtins: Plugin = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z]/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined
      const name = path.replace(/^node:/, '')
      return kind === 'import-statement' && path !== name
        ? { path, external: true }
        : { path: name, namespace: 'builtin' }
    })
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `export * from 'node:${path}'; export { default } from 'node:${path}'`,
    }))
  },
}

/** Bun and Deno, which load the package from the folder. */
const inProcess =
  (...command: readonly string[]): Start =>
  async (folder, program) => {
    const outfile = join(folder, 'program.mjs')
    await build({
      entryPoints: [join(ROOT, program)],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      plugins: [installed(folder, false)],
      logLevel: 'error',
    })
    const [name, ...args] = command
    const child = spawn(join(folder, 'node_modules/.bin', name!), [...args, outfile], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let logged = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      logged += text
    })
    const close = async () => {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    }
    for await (const line of createInterface({ input: child.stdout }))
      if (line.startsWith('http')) return { origin: line, errors: () => logged, close }
    throw new Error(`${name} ended without an address.`)
  }

/** workerd, through Miniflare, with one bundle that is made as wrangler makes it. */
const inWorker: Start = async (folder, program) => {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, program)],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    plugins: [builtins, installed(folder, true)],
    write: false,
    logLevel: 'error',
  })
  const { Miniflare } = createRequire(join(folder, 'package.json'))('miniflare')
  const miniflare = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents: outputFiles[0]!.text }],
    compatibilityDate: '2026-04-01',
    compatibilityFlags: ['nodejs_compat'],
    durableObjects: { AGENTS: 'Agents' },
    host: '127.0.0.1',
    // Read, but not shown: it writes a stack for every stream that is broken off.
    handleRuntimeStdio: (...outputs: readonly Readable[]) => {
      for (const output of outputs) output.resume()
    },
  })
  const url: URL = await miniflare.ready
  return { origin: url.origin, close: () => miniflare.dispose() }
}

export const RUNTIMES: Readonly<Record<string, { readonly program: string; readonly start: Start }>> = {
  workerd: { program: 'test/runtimes/worker.ts', start: inWorker },
  bun: { program: 'test/runtimes/bun.ts', start: inProcess('bun') },
  deno: { program: 'test/runtimes/deno.ts', start: inProcess('deno', 'run', '--allow-all', '--no-check') },
}
