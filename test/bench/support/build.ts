import { mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const SERVERS = ['ours', 'bare', 'bare-storage', 'a2a-sdk', 'a2a-bare', 'control-plane', 'invoke-bare']

/** Servers of others, with the packages of `test/vendors`. */
export const VENDORS: readonly string[] = ['embed', 'langgraph-dev']

let built: Promise<Readonly<Record<string, string>>> | undefined

/**
 * Bundles the servers as the package is bundled, so that plain Node runs them, because a loader that compiles on the fly would
 * be part of the measurement. Gives the file of each.
 */
export const buildServers = (): Promise<Readonly<Record<string, string>>> => (built ??= bundleAll())

async function bundleAll(): Promise<Readonly<Record<string, string>>> {
  const [ours, theirs] = await Promise.all([
    bundle(
      '.tmp',
      SERVERS.map((name) => `test/bench/servers/${name}.ts`),
    ),
    // LangGraph's dev server loads `agents` by itself.
    bundle('test/vendors/.tmp', [
      ...VENDORS.map((name) => `test/vendors/bench/${name}.ts`),
      'test/bench/servers/agents.ts',
    ]),
  ])
  return { ...ours, ...theirs }
}

/** Node finds the packages of the files from their folder upwards. */
async function bundle(place: string, paths: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const outdir = join(ROOT, place, `bench-${process.pid}`)
  mkdirSync(outdir, { recursive: true })
  process.on('exit', () => rmSync(outdir, { recursive: true, force: true }))
  const sources = Object.fromEntries(paths.map((path) => [basename(path, '.ts'), join(ROOT, path)]))
  await build({
    entryPoints: sources,
    outdir,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
  })
  return Object.fromEntries(Object.keys(sources).map((name) => [name, join(outdir, `${name}.mjs`)]))
}
