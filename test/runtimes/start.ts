import { createRequire, isBuiltin } from 'node:module'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { build, type Plugin } from 'esbuild'
import { ROOT } from '../kit/install.mjs'
import { ORIGIN, startProgram } from '../kit/program.ts'

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

/** Programs run with the built package, as it was installed, and not with the sources, where they import these or name it. */
const installed = (folder: string, isBundled: boolean): Plugin => ({
  name: 'installed',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^(\.|agentwire(\/|$))/ }, ({ path, resolveDir, kind }) => {
      const entry = path.startsWith('.') ? ENTRIES[join(resolveDir, path)] : path
      if (!entry || resolveDir === folder) return undefined
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
    const { child, exit, output, text } = startProgram(
      join(folder, 'node_modules/.bin', name!),
      [...args, outfile],
      { ...process.env, PORT: '0' },
      folder,
    )
    const close = () => {
      child.kill('SIGKILL')
      return exit
    }
    const [origin] = ORIGIN.exec(await output(ORIGIN))!
    return { origin, errors: text, close }
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

interface Runtime {
  readonly program: string
  readonly start: Start
  /** The example for this runtime, and what starts it where that is something else. */
  readonly example: string
  readonly startExample?: Start
}

const DENO = ['--allow-all', '--no-check']

export const RUNTIMES: Readonly<Record<string, Runtime>> = {
  workerd: {
    program: 'test/runtimes/worker.ts',
    start: inWorker,
    example: 'examples/bun-deno-workers/worker.ts',
  },
  bun: {
    program: 'test/runtimes/bun.ts',
    start: inProcess('bun'),
    example: 'examples/bun-deno-workers/server.ts',
  },
  deno: {
    program: 'test/runtimes/deno.ts',
    start: inProcess('deno', 'run', ...DENO),
    example: 'examples/bun-deno-workers/server.ts',
    startExample: inProcess('deno', 'serve', ...DENO, '--host', '127.0.0.1', '--port', '0'),
  },
}
