// A namespace import, because bundles often start with an import of `createRequire`.
import { mkdirSync } from 'node:fs'
import * as modules from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Dirs } from '../dirs.ts'
import { BACKEND_HOST } from '../proxy/backend.ts'

/** A program and its arguments, in which `{port}`, `{host}`, `{config}` and `{dir}` are replaced. */
export type StartCommand = readonly [program: string, ...args: string[]]

/** `config` is the path of the langgraph.json, and `dir` the revision's folder. */
export function fillIn(
  [program, ...args]: StartCommand,
  { port, config, dir }: { readonly port: number; readonly config: string; readonly dir: string },
): StartCommand {
  const values: Readonly<Record<string, string>> = { port: String(port), host: BACKEND_HOST, config, dir }
  const fill = (text: string) =>
    text.replace(/\{(port|host|config|dir)\}/g, (_, name: string) => values[name]!)
  return [fill(program), ...args.map(fill)]
}

/** `agentwire serve` of this package. */
export function ownServer(): StartCommand {
  const address = ['--host', '{host}', '--port', '{port}']
  // A deployment is not in development, whatever its address.
  const deployed = ['--hide-errors', '--no-devtools']
  return [process.execPath, ...ownProgram(), 'serve', ...deployed, '--config', '{config}', ...address]
}

function ownProgram(): readonly string[] {
  // The CommonJS build has no `import.meta`.
  const here = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url)
  if (!here.endsWith('.ts')) return [join(dirname(here), 'cli.js')]
  // Sources need a loader, which cannot be resolved by name from the server's folder.
  const loader = pathToFileURL(modules.createRequire(here).resolve('tsx')).href
  return ['--import', loader, join(dirname(here), '../../../../cli/main.ts')]
}

/**
 * The default storage of a deployment: its own file, so that a new revision has the threads of the previous
 * one. Empty if the SQLite client is not installed.
 */
export function defaultStorage(dirs: Dirs, deploymentId: string): { readonly STORAGE_URL?: string } {
  if (!isInstalled('libsql')) return {}
  const folder = dirs.data(deploymentId)
  mkdirSync(folder, { recursive: true })
  return { STORAGE_URL: `file:${join(folder, 'threads.db')}` }
}

function isInstalled(name: string): boolean {
  try {
    // The CommonJS build has no `import.meta`.
    modules.createRequire(typeof __filename === 'string' ? __filename : import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}
