// Under a name of its own: programs in one bundle often begin with an import of `createRequire`.
import { createRequire as requireFrom } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { BACKEND_HOST } from '../proxy/backend.ts'

/** A program and its arguments, without a shell. `{port}`, `{host}`, `{config}` and `{dir}` in them are replaced. */
export type StartCommand = readonly [program: string, ...args: string[]]

export interface Placeholders {
  /** Where it has to listen. */
  readonly port: number
  /** The path of the configuration file, such as `langgraph.json`. */
  readonly config: string
  /** The folder of the revision. */
  readonly dir: string
}

export function fillIn([program, ...args]: StartCommand, { port, config, dir }: Placeholders): StartCommand {
  const values: Readonly<Record<string, string>> = { port: String(port), host: BACKEND_HOST, config, dir }
  const fill = (text: string) =>
    text.replace(/\{(port|host|config|dir)\}/g, (_, name: string) => values[name]!)
  return [fill(program), ...args.map(fill)]
}

/** `agentwire serve` of this package. */
export function ownServer(): StartCommand {
  return [
    process.execPath,
    ...ownProgram(),
    'serve',
    // What is deployed is no development, whatever the address.
    '--hide-errors',
    '--config',
    '{config}',
    '--host',
    '{host}',
    '--port',
    '{port}',
  ]
}

function ownProgram(): readonly string[] {
  // In the CommonJS build there is no `import.meta`.
  const here = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url)
  if (!here.endsWith('.ts')) return [join(dirname(here), 'cli.js')]
  // These are the sources, which Node does not run by itself. The server runs in another folder, where the loader would not be found by name.
  const loader = pathToFileURL(requireFrom(here).resolve('tsx')).href
  return ['--import', loader, join(dirname(here), '../../../../../cli/main.ts')]
}
