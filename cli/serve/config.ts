import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { AgentwireError } from '../../src/errors.ts'
import type { LangGraphCors } from '../../src/http/index.ts'

/** A `langgraph.json` as far as `agentwire serve` reads it. Other sections are for builds and other servers. */
export interface Config {
  /** The absolute path of the file. */
  readonly path: string
  /** The folder that its paths begin at. */
  readonly folder: string
  readonly graphs: readonly GraphEntry[]
  /** The path of a file, the variables themselves, or the names of those that must be set. */
  readonly env: string | Readonly<Record<string, string>> | readonly string[]
  readonly auth: ExportPath | undefined
  readonly checkpointer: ExportPath | undefined
  readonly http: HttpSection
  /** What it asks for and does not get, in sentences. */
  readonly unsupported: readonly string[]
}

export interface GraphEntry extends ExportPath {
  /** The assistant id. */
  readonly name: string
  readonly description: string | undefined
}

/** An export of a file of the project. */
export interface ExportPath {
  /** Where the config names it, such as `graphs.agent`. */
  readonly key: string
  /** As the config has it, such as `./graph.ts`. */
  readonly file: string
  /** Such as `graph`, or `default`. */
  readonly symbol: string
}

export interface HttpSection {
  readonly app: ExportPath | undefined
  readonly cors: LangGraphCors | undefined
  /** Begins with a slash and ends without one, or is empty. */
  readonly mountPrefix: string
  readonly disabled: ReadonlySet<'a2a' | 'meta' | 'runs' | 'threads'>
  readonly configurableHeaders: {
    readonly includes: readonly string[] | undefined
    readonly excludes: readonly string[]
  }
  /** Whether the routes of `app` need what `auth` asks for. */
  readonly authenticatesApp: boolean
}

/** A mistake in a file of the project; the message names the file and the place. */
export class ConfigError extends AgentwireError {
  static override readonly brand = 'ConfigError'
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('invalid_config', message, options)
  }
}

export function readConfig(given: string): Config {
  const path = resolve(given)
  return configOf(path, parse(path, read(path)))
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const problem = missing
      ? `There is no ${path}. Name the file with --config, or make one: {"graphs":{"agent":"./graph.ts:graph"}}.`
      : `${path} cannot be read: ${(error as Error).message}`
    throw new ConfigError(problem, { cause: error })
  }
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ConfigError(`${path} is not valid JSON: ${(cause as Error).message}`)
  }
}

function configOf(path: string, value: unknown): Config {
  const at = reader(basename(path))
  const root = at.object('the file', value)
  const { graphs, env, auth, store, checkpointer, http } = root
  const entries = Object.entries(at.object('graphs', graphs))
  if (entries.length === 0) throw at.wrong('graphs', 'names no graph', 'such as {"agent":"./graph.ts:graph"}')
  const authSection = at.optional('auth', auth)
  const saver = at.optional('checkpointer', checkpointer)
  return {
    path,
    folder: dirname(path),
    graphs: entries.map(([name, entry]) => graphEntry(at, name, entry)),
    env: envOf(at, env),
    auth: authSection.path === undefined ? undefined : at.exportPath('auth.path', authSection.path),
    checkpointer: saver.path === undefined ? undefined : at.exportPath('checkpointer.path', saver.path),
    http: httpOf(at, at.optional('http', http)),
    unsupported: unsupportedOf({ store, saver, ui: root.ui, webhooks: root.webhooks }),
  }
}

function graphEntry(at: Reader, name: string, entry: unknown): GraphEntry {
  const key = `graphs.${name}`
  if (typeof entry === 'string') return { name, description: undefined, ...at.exportPath(key, entry) }
  const { path, description } = at.object(key, entry)
  if (description !== undefined) at.string(`${key}.description`, description)
  return { name, description: description as string | undefined, ...at.exportPath(`${key}.path`, path) }
}

function envOf(at: Reader, env: unknown): Config['env'] {
  if (env === undefined || env === null) return {}
  if (typeof env === 'string') return env
  if (Array.isArray(env)) return env.map((name, index) => at.string(`env[${index}]`, name))
  return Object.fromEntries(
    Object.entries(at.object('env', env)).map(([name, value]) => [name, at.string(`env.${name}`, value)]),
  )
}

function httpOf(at: Reader, http: Readonly<Record<string, unknown>>): HttpSection {
  const headers = at.optional('http.configurable_headers', http.configurable_headers)
  const names = (key: 'includes' | 'excludes') =>
    headers[key] === undefined || headers[key] === null
      ? undefined
      : at.strings(`http.configurable_headers.${key}`, headers[key])
  const prefix = http.mount_prefix === undefined ? '' : at.string('http.mount_prefix', http.mount_prefix)
  return {
    app: http.app === undefined ? undefined : at.exportPath('http.app', http.app),
    cors: http.cors === undefined ? undefined : (at.object('http.cors', http.cors) as LangGraphCors),
    mountPrefix: prefix.replace(/^\/*(?=[^/])/, '/').replace(/\/+$/, ''),
    disabled: new Set(
      (['a2a', 'meta', 'runs', 'threads'] as const).filter((part) =>
        at.flag(`http.disable_${part}`, http[`disable_${part}`]),
      ),
    ),
    configurableHeaders: { includes: names('includes'), excludes: names('excludes') ?? [] },
    authenticatesApp: http.enable_custom_route_auth !== false,
  }
}

function unsupportedOf(sections: {
  readonly store: unknown
  readonly saver: Readonly<Record<string, unknown>>
  readonly ui: unknown
  readonly webhooks: unknown
}): string[] {
  const { store, saver, ui, webhooks } = sections
  return [
    ...(store == null
      ? []
      : [
          'store: the server gives graphs no store (`config.store`); compile a graph with the store that it needs.',
        ]),
    ...(saver.ttl == null ? [] : ['checkpointer.ttl: states are kept until their thread is deleted.']),
    ...(ui == null ? [] : ['ui: pages of components are not served.']),
    ...(webhooks == null ? [] : ['webhooks: runs have no webhooks; tasks of A2A have their own.']),
  ]
}

type Reader = ReturnType<typeof reader>

/** Checks values, and says where in the file one is not what it has to be. */
function reader(file: string) {
  const wrong = (key: string, problem: string, wanted: string): ConfigError =>
    new ConfigError(`${file}: ${key} ${problem}: it takes ${wanted}.`)
  const object = (key: string, value: unknown): Readonly<Record<string, unknown>> => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
    throw wrong(key, value === undefined ? 'is missing' : 'is no object', 'an object')
  }
  const string = (key: string, value: unknown): string => {
    if (typeof value === 'string') return value
    throw wrong(key, value === undefined ? 'is missing' : 'is no string', 'a string')
  }
  return {
    wrong,
    object,
    string,
    optional: (key: string, value: unknown) => (value == null ? {} : object(key, value)),
    strings(key: string, value: unknown): string[] {
      if (!Array.isArray(value)) throw wrong(key, 'is no list', 'a list of strings')
      return value.map((one, index) => string(`${key}[${index}]`, one))
    },
    flag(key: string, value: unknown): boolean {
      if (value === undefined || typeof value === 'boolean') return value ?? false
      throw wrong(key, 'is neither true nor false', 'true or false')
    },
    exportPath(key: string, value: unknown): ExportPath {
      const path = string(key, value)
      const colon = path.lastIndexOf(':')
      // A colon in front of a slash belongs to the path, such as that of a drive.
      const hasSymbol = colon > 0 && !/[\\/]/.test(path.slice(colon))
      const file = hasSymbol ? path.slice(0, colon) : path
      if (/\.py[ixd]?$/.test(file) || !/\.[cm]?[jt]sx?$/.test(file)) {
        const problem = /\.py[ixd]?$/.test(file)
          ? `names ${file}, and Python is not served`
          : `names ${file}, which is no file of JavaScript or TypeScript`
        throw wrong(key, problem, 'a path and an export, such as ./graph.ts:graph')
      }
      return { key, file, symbol: (hasSymbol && path.slice(colon + 1)) || 'default' }
    },
  }
}
