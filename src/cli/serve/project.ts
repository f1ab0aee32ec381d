import { basename } from 'node:path'
import type { Agent } from '../../agents/agent.ts'
import type { GraphStoreLike, GraphStoreOptions } from '../../storage/graph-store/index.ts'
import type { Checkpointer } from '../../storage/index.ts'
import { agentOf } from './agents.ts'
import { type AppLike, appOf } from './app.ts'
import { authOf, type ProjectAuth } from './auth.ts'
import { type Config, readConfig } from './config.ts'
import { ConfigError } from './config-reader.ts'
import { defaultsOf } from './defaults.ts'
import { envFileOf, environment } from './environment.ts'
import { graphTypes } from './graph-types.ts'
import { checkLangGraph } from './langgraph-version.ts'
import { type Modules, projectModules } from './modules.ts'
import { shareLangGraph } from './share-langgraph.ts'
import { graphStoreOf } from './store-section.ts'

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
