import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Each is a process, but for `agents`, which LangGraph's dev server loads by itself. */
const SERVERS = [
  'ours',
  'embed',
  'bare',
  'bare-storage',
  'a2a-sdk',
  'a2a-bare',
  'control-plane',
  'invoke-bare',
  'langgraph-dev',
  'agents',
]

let built: Promise<string> | undefined

/**
 * Bundles the servers as the package is bundled, so that plain Node runs them, because a loader that compiles on the fly would
 * be part of the measurement. Gives their folder.
 */
export const buildServers = (): Promise<string> => (built ??= bundle())

async function bundle(): Promise<string> {
  const outdir = join(ROOT, '.tmp', `bench-${process.pid}`)
  mkdirSync(outdir, { recursive: true })
  process.on('exit', () => rmSync(outdir, { recursive: true, force: true }))
  await build({
    entryPoints: SERVERS.map((name) => join(ROOT, `test/bench/servers/${name}.ts`)),
    outdir,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
  })
  return outdir
}
