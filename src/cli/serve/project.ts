import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import * as z from 'zod/mini'
import { AgentwireError } from '../../core/errors.ts'
import type { Authenticate } from '../../core/http/index.ts'
import type { AgentDefaults } from '../../faces/kit/index.ts'
import { type LangGraphAuth, type LangGraphAuthOptions, langgraphAuth } from '../../faces/rest/index.ts'
import type { Agent } from '../../index.ts'
import type { GraphStoreLike, GraphStoreOptions } from '../../storage/graph-store/index.ts'
import type { Checkpointer } from '../../storage/index.ts'
import { agentOf } from './agents.ts'
import { type AppLike, appOf } from './app.ts'
import { type Config, readConfig } from './config.ts'
import { ConfigError, readBy } from './config-reader.ts'
import { graphTypes } from './graph-types.ts'
import { checkLangGraph, shareLangGraph } from './langgraph.ts'
import { type Modules, projectModules } from './modules.ts'
import { graphStoreOf } from './sections.ts'

/** A project in the state of its files at one time. */
export interface Project {
  readonly config: Config
  /** The files that it depends on, apart from its sources. */
  readonly files: readonly string[]
  readonly agents: ReadonlyMap<string, Agent>
  /** Graphs that could not be loaded although others could. */
  readonly failed: readonly { readonly name: string; readonly error: ConfigError }[]
  /** Possible mistakes, in sentences. */
  readonly warnings: readonly string[]
  readonly auth: ProjectAuth | undefined
  readonly app: AppLike | undefined
  /** Further apps, each below its path, such as `/dashboard`. */
  readonly apps: readonly { readonly path: string; readonly app: AppLike }[]
  readonly checkpointer: Checkpointer | undefined
  readonly graphStore: GraphStoreLike | GraphStoreOptions
  /** Reads the types of its graphs, for their schemas. Call it when the server has started. */
  readonly readTypes: () => void
}

/**
 * Returns a function that loads everything that a config names, and its environment into this process. If
 * modules are renewable, call it again after an edit. It throws `ConfigError`, which names the file and the
 * position, except for a graph that cannot be loaded while others can.
 */
export function projectLoader(
  path: string,
  { renewable }: { readonly renewable: boolean },
): () => Promise<Project> {
  const env = environment(process.env)
  let modules: Modules | undefined
  return async () => {
    const config = readConfig(path)
    const warnings = [env.apply(config), checkLangGraph(config.folder)].filter((text) => text !== undefined)
    if (modules) modules.renew()
    else {
      shareLangGraph(config.folder)
      modules = projectModules({ folder: config.folder, config: basename(config.path), renewable })
    }
    return loadProject(config, modules, warnings)
  }
}

async function loadProject(config: Config, modules: Modules, warnings: readonly string[]): Promise<Project> {
  const name = basename(config.path)
  const { auth, checkpointer, http } = config
  const agents = new Map<string, Agent>()
  const types = graphTypes(config)
  const defaults = defaultsOf(process.env.LANGGRAPH_CONFIG)
  const failed: Project['failed'][number][] = []
  for (const entry of config.graphs)
    try {
      const agent = await agentOf(entry, await modules.load(entry), name, types.describe)
      const own = defaults(entry.name)
      agents.set(entry.name, own ? { ...agent, defaults: own } : agent)
    } catch (cause) {
      const error =
        cause instanceof ConfigError
          ? cause
          : new ConfigError(`${name}: ${entry.key}: ${entry.file} cannot be used`, { cause })
      failed.push({ name: entry.name, error })
    }
  // Without any graph, there is nothing to serve.
  if (agents.size === 0) throw failed[0]!.error
  const apps: Project['apps'][number][] = []
  for (const one of http.apps)
    apps.push({ path: one.path, app: appOf(await modules.load(one), `${name}: ${one.key}: ${one.file}`) })
  return {
    config,
    files: [config.path, envFileOf(config)].filter((file) => file !== undefined),
    agents,
    failed,
    warnings,
    auth: auth && authOf(await modules.load(auth), `${name}: ${auth.key}: ${auth.file}:${auth.symbol}`),
    apps,
    app: http.app && appOf(await modules.load(http.app), `${name}: ${http.app.key}: ${http.app.file}`),
    checkpointer: checkpointer && (await checkpointerOf(await modules.load(checkpointer), name)),
    graphStore: await graphStoreOf(config.store, modules.load, name),
    readTypes: types.readAhead,
  }
}

async function checkpointerOf(value: unknown, config: string): Promise<Checkpointer> {
  const saver = typeof value === 'function' ? await value() : await value
  if (typeof (saver as Checkpointer | null)?.getTuple === 'function') return saver as Checkpointer
  throw new ConfigError(
    `${config}: checkpointer.path does not name a checkpointer: the export has no getTuple method.`,
  )
}

/** The server options of the section `auth`. */
type ProjectAuth = Pick<LangGraphAuthOptions, 'authenticate'> & Partial<LangGraphAuthOptions>

/**
 * An `Auth`, or the `authenticate` function of a server. Throws `ConfigError` for anything else.
 */
function authOf(value: unknown, where: string): ProjectAuth {
  if (typeof value === 'function') return { authenticate: value as Authenticate }
  try {
    return langgraphAuth(value as LangGraphAuth)
  } catch (error) {
    if (!(error instanceof AgentwireError)) throw error
    throw new ConfigError(`${where} ${error.message}`)
  }
}

/**
 * Configuration of the assistants of graphs from the environment, by graph name. `LANGGRAPH_CONFIG` is JSON
 * such as `{"agent":{"configurable":{"model":"small"},"context":{"user":"ann"}}}`. Throws `ConfigError`.
 */
function defaultsOf(text: string | undefined): (graph: string) => AgentDefaults | undefined {
  if (!text) return () => undefined
  const read = <S extends z.ZodMiniType>(schema: S, value: unknown): z.output<S> =>
    readBy(schema, value, { file: 'LANGGRAPH_CONFIG', whole: 'the variable' })
  const all = read(z.looseObject({}), parse(text))
  return (graph) => {
    if (!Object.hasOwn(all, graph)) return undefined
    const { [graph]: defaults } = read(z.object({ [graph]: DEFAULTS }), all)
    const { context, ...config } = defaults!
    return { config, ...(context !== undefined && { context }) }
  }
}

const DEFAULTS = z.looseObject({ context: z.optional(z.looseObject({})) })

/** Text that is not JSON is not an object, and the reader reports that. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Adds the section `env` of a config to an environment. Earlier values of the environment win. Call the
 * returned `apply` again after an edit: values that came from the section change, and removed ones are unset.
 */
function environment(target: NodeJS.ProcessEnv) {
  const own = new Set(Object.keys(target))
  let applied: readonly string[] = []
  return {
    /** Returns what is missing without being a mistake, as a sentence. */
    apply(config: Config): string | undefined {
      const missing = missingFile(config)
      const variables = missing ? {} : variablesOf(config, target)
      for (const name of applied) if (!own.has(name)) delete target[name]
      applied = Object.keys(variables)
      for (const name of applied) if (!own.has(name)) target[name] = variables[name]
      return missing
    },
  }
}

/** The absolute path of the file with the variables, if it is a file. */
const envFileOf = ({ env, folder }: Config): string | undefined =>
  typeof env === 'string' ? resolve(folder, env) : undefined

/**
 * Templates name a `.env` that is not in their repository: the environment may already have its variables.
 */
function missingFile(config: Config): string | undefined {
  const file = envFileOf(config)
  if (file === undefined || existsSync(file)) return undefined
  return `env names ${config.env}, but that file does not exist: set its variables in the environment.`
}

function variablesOf(config: Config, target: NodeJS.ProcessEnv): NodeJS.Dict<string> {
  const { env, path } = config
  if (isList(env)) {
    const missing = env.filter((name) => target[name] === undefined)
    if (missing.length === 0) return {}
    throw new ConfigError(
      `${basename(path)}: env requires ${missing.join(', ')} to be set in the environment.`,
    )
  }
  const file = envFileOf(config)
  if (file === undefined) return env as Readonly<Record<string, string>>
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (cause) {
    const message = `${basename(path)}: cannot read ${file}, named by env: ${(cause as Error).message}`
    throw new ConfigError(message)
  }
}

const isList = (env: Config['env']): env is readonly string[] => Array.isArray(env)
