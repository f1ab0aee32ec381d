import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { ConfigError, type ExportPath, type Reader, reader } from './config-reader.ts'
import { type HttpSection, httpOf } from './http-section.ts'
import { type StoreSection, storeSectionOf } from './store-section.ts'
import { type UiSection, uiOf } from './ui-section.ts'

/** The sections of `langgraph.json` that `agentwire serve` reads. Others are for builds and other servers. */
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
  readonly store: StoreSection
  readonly http: HttpSection
  readonly ui: UiSection
  /** What it asks for and does not get, in sentences. */
  readonly unsupported: readonly string[]
}

export interface GraphEntry extends ExportPath {
  /** The assistant id. */
  readonly name: string
  readonly description: string | undefined
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
  const storeSection = storeSectionOf(at, at.optional('store', store))
  const ui = uiOf(at, dirname(path), root)
  return {
    path,
    folder: dirname(path),
    graphs: entries.map(([name, entry]) => graphEntry(at, name, entry)),
    env: envOf(at, env),
    auth: authSection.path === undefined ? undefined : at.exportPath('auth.path', authSection.path),
    checkpointer: saver.path === undefined ? undefined : at.exportPath('checkpointer.path', saver.path),
    store: storeSection,
    http: httpOf(at, at.optional('http', http)),
    ui,
    unsupported: [...storeSection.unsupported, ...unsupportedOf({ saver, ui, webhooks: root.webhooks })],
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

function unsupportedOf(sections: {
  readonly saver: Readonly<Record<string, unknown>>
  readonly ui: UiSection
  readonly webhooks: unknown
}): string[] {
  const { saver, ui, webhooks } = sections
  return [
    ...(saver.ttl == null ? [] : ['checkpointer.ttl: states are kept until their thread is deleted.']),
    ...(ui.bundler !== undefined || Object.keys(ui.files).length === 0
      ? []
      : ['ui: its components need the package @langchain/langgraph-ui.']),
    ...(webhooks == null
      ? []
      : ['webhooks: those of runs may be any public address, without headers of the file.']),
  ]
}
