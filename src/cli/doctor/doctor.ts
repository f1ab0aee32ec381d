import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { AgentwireError } from '../../core/errors.ts'
import { VERSION } from '../../core/version.ts'
import { openStorage, withoutPassword } from '../../storage/open.ts'
import { packageFolder } from '../create/choices.ts'
import {
  type ExitCode,
  explain,
  findingsOf,
  parseCommandLine,
  portOf,
  type Terminal,
  UsageError,
} from '../terminal.ts'
import { type Check, serverChecks } from './running.ts'

const DOCTOR_USAGE = `agentwire doctor  checks this machine, this folder and a running server, and says what to do

  --url URL        a running server, as its clients reach it, such as https://example.com/agents: checks its
                   authentication, and whether a proxy buffers or compresses streams
  --header LINE    a header for the server, such as "authorization: Bearer …"; may be repeated
  --port PORT      the port to check; default: the environment variable PORT, or 3000 and 2024
  --json           prints one JSON object
  --help           shows this text

It checks Node, agentwire, the installed peers against their ranges, and the databases of STORAGE_URL, DATABASE_URL
and REDIS_URL, which it also reads from .env. It changes nothing.

Exit codes: 0 without a problem (warnings are none), 1 for a problem, 2 for an invalid command line.`

/** The ports of the guides and of `agentwire serve`. */
const PORTS = [3000, 2024]

export async function doctorCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { values, positionals } = parseCommandLine(args, {
    url: { type: 'string' },
    header: { type: 'string', multiple: true },
    port: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) {
    terminal.out(DOCTOR_USAGE)
    return 0
  }
  if (positionals.length > 0) throw new UsageError('agentwire doctor takes options only.')
  const folder = process.cwd()
  const env = { ...envFile(folder), ...terminal.env }
  const url = values.url === undefined ? undefined : urlOf(values.url)
  const headers = headersOf(values.header ?? [])
  const ports = portsOf(values.port, env).filter((port) => String(port) !== url?.port)
  const checks = [
    ...packageChecks(folder, process.versions.node),
    ...(await databaseChecks(env)),
    ...(await portChecks(ports)),
    ...(url ? await serverChecks(url, headers) : [NOT_ASKED]),
  ]
  const ok = !checks.some(({ level }) => level === 'problem')
  terminal.out(values.json ? JSON.stringify({ ok, checks }, undefined, 2) : checks.map(lineOf).join('\n'))
  return ok ? 0 : 1
}

const NOT_ASKED: Check = {
  check: 'server',
  level: 'warning',
  text: 'Authentication and streaming were not checked: start the server, and pass --url, such as --url http://127.0.0.1:3000.',
}

const lineOf = ({ level, text }: Check): string => `${level.padEnd(8)} ${text}`

const envFile = (folder: string): NodeJS.Dict<string> => {
  const path = join(folder, '.env')
  return existsSync(path) ? parseEnv(readFileSync(path, 'utf8')) : {}
}

function portsOf(given: string | undefined, env: Terminal['env']): readonly number[] {
  if (given !== undefined) return [portOf(given, '--port')]
  return env.PORT ? [portOf(env.PORT, 'PORT')] : PORTS
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return url
  throw new UsageError(`--url must be an http: or https: URL without a query, not “${text}”.`)
}

function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers()
  try {
    for (const line of lines)
      headers.append(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1))
    return headers
  } catch {
    throw new UsageError('--header must be a name, a colon and a value, such as "authorization: Bearer …".')
  }
}

const VARIABLES = ['STORAGE_URL', 'DATABASE_URL', 'REDIS_URL']

async function databaseChecks(env: Terminal['env']): Promise<readonly Check[]> {
  const named = VARIABLES.filter((name) => env[name])
  const checks = await Promise.all(named.map((name) => databaseCheck(name, env[name]!)))
  if (named.length > 0) return checks.flat()
  const text = `None of ${VARIABLES.join(', ')} is set, here or in .env. Unless your code opens a database, the threads are lost when the process ends.`
  return [{ check: 'storage', level: 'warning', text }]
}

async function databaseCheck(name: string, url: string): Promise<readonly Check[]> {
  const where = `${name} (${withoutPassword(url)})`
  try {
    const storage = await openStorage(url)
    try {
      const findings = findingsOf(await storage.report())
      return findings.map(({ level, text }) => ({ check: 'storage', level, text: `${where}: ${text}` }))
    } finally {
      await storage.close()
    }
  } catch (error) {
    if (!(error instanceof AgentwireError)) throw error
    return [{ check: 'storage', level: 'problem', text: `${where}: ${explain(error)}` }]
  }
}

/** Checks whether a server could listen on each port of this machine. */
const portChecks = (ports: readonly number[]): Promise<readonly Check[]> => Promise.all(ports.map(portCheck))

async function portCheck(port: number): Promise<Check> {
  const code = await listenOnce(port)
  if (code === undefined) return { check: 'port', level: 'ok', text: `Port ${port} is free.` }
  const text =
    code === 'EADDRINUSE'
      ? `Port ${port} is in use: stop the program that listens there, or choose another port. If it is your server, pass its --url.`
      : `Nobody can listen on port ${port} (${code}): choose another port.`
  return { check: 'port', level: 'warning', text }
}

/** The code of the error, if there is one. */
async function listenOnce(port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    server.close()
    await once(server, 'close')
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** Checks Node, the package that the project has, and those of its peers that are installed. */
export function packageChecks(folder: string, node: string): readonly Check[] {
  const own = manifestIn(packageFolder(dirname(fileURLToPath(import.meta.url))))!
  const { engines, peerDependencies } = own
  return [
    nodeCheck(node, engines.node),
    ownCheck(installed(folder, 'agentwire')?.version, folder),
    ...Object.entries(peerDependencies).flatMap(([name, range]) => peerCheck(name, range, folder)),
  ]
}

function nodeCheck(version: string, range: string): Check {
  const about = { check: 'node' } as const
  if (isInRange(version, range)) return { ...about, level: 'ok', text: `Node ${version}.` }
  return {
    ...about,
    level: 'problem',
    text: `Node ${version} is too old: install Node ${range.slice(2)} or newer.`,
  }
}

function ownCheck(version: string | undefined, folder: string): Check {
  const about = { check: 'package' } as const
  if (version === VERSION) return { ...about, level: 'ok', text: `agentwire ${VERSION}.` }
  if (version === undefined)
    return {
      ...about,
      level: 'warning',
      text: `${folder} has no agentwire: run “npm install agentwire” there.`,
    }
  const text = `${folder} has agentwire ${version}, but this command is of ${VERSION}: run “npx agentwire doctor” in that folder.`
  return { ...about, level: 'warning', text }
}

function peerCheck(name: string, range: string, folder: string): readonly Check[] {
  const version = installed(folder, name)?.version
  if (version === undefined) return []
  if (isInRange(version, range)) return [{ check: 'peer', level: 'ok', text: `${name} ${version}.` }]
  const newest = range.split('||').at(-1)!.trim()
  const text = `${name} ${version} is not in ${range}: run “npm install "${name}@${newest}"”.`
  return [{ check: 'peer', level: 'problem', text }]
}

/** The nearest copy of a package, as an import from the folder finds it. */
function installed(folder: string, name: string): Manifest | undefined {
  const found = manifestIn(join(folder, 'node_modules', name))
  const above = dirname(folder)
  return found ?? (above === folder ? undefined : installed(above, name))
}

function manifestIn(folder: string): Manifest | undefined {
  const path = join(folder, 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : undefined
}

/** The version of a release, without what follows a hyphen or a plus sign. */
const numbersOf = (version: string): readonly number[] =>
  version.replace(/^v/, '').split(/[-+]/, 1)[0]!.split('.').map(Number)

function compare(one: readonly number[], other: readonly number[]): number {
  const at = [0, 1, 2].find((index) => (one[index] ?? 0) !== (other[index] ?? 0))
  return at === undefined ? 0 : (one[at] ?? 0) - (other[at] ?? 0)
}

/** Whether a version is in a range of the two forms in the package's own `package.json`: `^1.2.0 || ^2.0.0` and `>=1.2`. */
export const isInRange = (version: string, range: string): boolean =>
  range.split('||').some((part) => {
    const [, operator, lowest] = /^(\^|>=)([\d.]+)$/.exec(part.trim())!
    const [found, from] = [numbersOf(version), numbersOf(lowest!)]
    if (compare(found, from) < 0) return false
    if (operator === '>=') return true
    // The first number that is not 0 stays the same.
    const fixed =
      Math.max(
        0,
        from.findIndex((number) => number !== 0),
      ) + 1
    return compare(found.slice(0, fixed), from.slice(0, fixed)) === 0
  })
