import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import * as z from 'zod/mini'
import {
  ConfigError,
  type ExportPath,
  exportAt,
  exportPath,
  readBy,
  section,
  strings,
  wrong,
} from './config-reader.ts'
import { HTTP_SECTION, type HttpSection, STORE_SECTION, type StoreSection } from './sections.ts'

/**
 * The sections of `langgraph.json` that `agentwire serve` reads. The others are for builds and other servers.
 */
export interface Config {
  /** The absolute path of the file. */
  readonly path: string
  /** The folder that its paths are relative to. */
  readonly folder: string
  readonly graphs: readonly GraphEntry[]
  /** The path of a file, the variables themselves, or the names of those that must be set. */
  readonly env: string | Readonly<Record<string, string>> | readonly string[]
  readonly auth: ExportPath | undefined
  readonly checkpointer: ExportPath | undefined
  readonly store: StoreSection
  readonly http: HttpSection
  readonly ui: UiSection
  /** What it requests and this server does not support, in sentences. */
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
      ? `${path} does not exist. Pass --config FILE, or create it: {"graphs":{"agent":"./graph.ts:graph"}}. “agentwire create” makes a project that has one.`
      : `${path} cannot be read: ${(error as Error).message}`
    throw new ConfigError(problem, missing ? undefined : { cause: error })
  }
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ConfigError(`${path} is not valid JSON: ${(cause as Error).message}`)
  }
}

const GRAPH = z.union([
  z.pipe(
    z.string(),
    z.transform((text, payload) => ({ description: undefined, ...exportAt('', text, payload) })),
  ),
  z.pipe(
    z.looseObject({ path: exportPath('.path'), description: z.optional(z.string()) }),
    z.transform(({ path, description }) => ({ description, ...path })),
  ),
])

const UI_FILES = z.pipe(
  z.transform((value: unknown): unknown => value ?? {}),
  z.record(z.string(), z.string()),
)

const UI_CONFIG = section({ shared: z.optional(strings) })

const CONFIG = z.looseObject({
  graphs: z
    .record(z.string(), GRAPH)
    .check(
      z.refine(
        (graphs) => Object.keys(graphs).length > 0,
        wrong('has no graphs', 'at least one, such as {"agent":"./graph.ts:graph"}'),
      ),
    ),
  env: z.nullish(z.union([z.string(), strings, z.record(z.string(), z.string())])),
  auth: section({ path: z.optional(exportPath('auth.path')) }),
  checkpointer: section({ path: z.optional(exportPath('checkpointer.path')) }),
  store: STORE_SECTION,
  http: HTTP_SECTION,
  ui: UI_FILES,
  ui_config: UI_CONFIG,
})

function configOf(path: string, value: unknown): Config {
  const given = readBy(CONFIG, value, { file: basename(path), whole: 'the file' })
  const { graphs, env, auth, checkpointer, store, http } = given
  const ui = uiOf(dirname(path), given)
  return {
    path,
    folder: dirname(path),
    graphs: Object.entries(graphs).map(([name, graph]) => ({
      name,
      ...graph,
      key: `graphs.${name}${graph.key}`,
    })),
    env: env ?? {},
    auth: auth.path,
    checkpointer: checkpointer.path,
    store,
    http,
    ui,
    unsupported: [
      ...store.unsupported,
      ...unsupportedOf({ saver: checkpointer, ui, webhooks: given.webhooks }),
    ],
  }
}

function unsupportedOf(sections: {
  readonly saver: Readonly<Record<string, unknown>>
  readonly ui: UiSection
  readonly webhooks: unknown
}): string[] {
  const { saver, ui, webhooks } = sections
  return [
    ...(saver.ttl == null ? [] : ['checkpointer.ttl: checkpoints are kept until their thread is deleted.']),
    ...(ui.bundler !== undefined || Object.keys(ui.files).length === 0
      ? []
      : ['ui: install @langchain/langgraph-ui to serve its components.']),
    ...(webhooks == null
      ? []
      : ['webhooks: runs can call any public address, and the headers of this section are not sent.']),
  ]
}

interface UiSection {
  /** Component files, by the names that clients request. */
  readonly files: Readonly<Record<string, string>>
  /** Packages that pages provide, instead of a copy in each bundle. */
  readonly shared: readonly string[]
  /** The path of the bundler of LangGraph's own server, if the project has it. */
  readonly bundler: string | undefined
}

function uiOf(
  folder: string,
  {
    ui,
    ui_config,
  }: { readonly ui: z.output<typeof UI_FILES>; readonly ui_config: z.output<typeof UI_CONFIG> },
): UiSection {
  return {
    files: ui,
    shared: ui_config.shared ?? [],
    bundler: Object.keys(ui).length === 0 ? undefined : bundlerOf(folder),
  }
}

function bundlerOf(folder: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve('@langchain/langgraph-ui')
  } catch {
    return undefined
  }
}
