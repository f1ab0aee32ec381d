import * as z from 'zod/mini'
import type { LangGraphCors } from '../../core/http/index.ts'
import type { GraphStoreLike, GraphStoreOptions } from '../../storage/graph-store/index.ts'
import {
  ConfigError,
  type ExportPath,
  exportAt,
  exportPath,
  optional,
  section,
  strings,
  wrong,
} from './config-reader.ts'

export interface HttpSection {
  readonly app: ExportPath | undefined
  /** Further apps. An app whose path is below another's comes before it. */
  readonly apps: readonly PlacedApp[]
  readonly cors: LangGraphCors | undefined
  /** Starts with a slash and ends without one, or is empty. */
  readonly mountPrefix: string
  readonly disabled: ReadonlySet<'a2a' | 'assistants' | 'mcp' | 'meta' | 'runs' | 'store' | 'threads'>
  readonly configurableHeaders: {
    readonly includes: readonly string[] | undefined
    readonly excludes: readonly string[]
  }
  /** Whether the routes of `app` and `apps` need the authentication of `auth`. */
  readonly authenticatesApp: boolean
}

interface PlacedApp extends ExportPath {
  /** Starts with a slash and ends without one. */
  readonly path: string
}

/** With a leading slash and without a trailing one. Empty for the root. */
const placeOf = (path: string): string => path.replace(/^\/*(?=[^/])/, '/').replace(/(?<!\/)\/+$/, '')

const CORS = z.looseObject({
  allow_origins: optional(strings),
  allow_methods: optional(strings),
  allow_headers: optional(strings),
  expose_headers: optional(strings),
  allow_origin_regex: optional(
    z
      .string()
      .check(z.refine(isRegExp, wrong('is not a regular expression', 'one that matches whole origins'))),
  ),
})

function isRegExp(text: string): boolean {
  try {
    return Boolean(new RegExp(text))
  } catch {
    return false
  }
}

const PARTS = ['a2a', 'assistants', 'mcp', 'meta', 'runs', 'store', 'threads'] as const

/** The apps by path. A mistake in a path is reported before one in its app. */
const APPS = z.pipe(
  section({}),
  z.pipe(
    z.transform((apps: Record<string, unknown>, payload) => {
      for (const path of Object.keys(apps))
        if (placeOf(path) === '')
          payload.issues.push({
            code: 'custom',
            input: apps,
            path: [path],
            message: wrong('is not a path', 'a path such as /dashboard; use http.app for the root'),
          })
      return apps
    }),
    z.record(z.string(), exportPath('')),
  ),
)

/** The section `http` of a `langgraph.json`. */
export const HTTP_SECTION = z.pipe(
  section({
    app: z.optional(exportPath('http.app')),
    apps: APPS,
    cors: optional(CORS),
    mount_prefix: z.optional(z.string()),
    configurable_headers: section({ includes: optional(strings), excludes: optional(strings) }),
    disable_a2a: z.optional(z.boolean()),
    disable_assistants: z.optional(z.boolean()),
    disable_mcp: z.optional(z.boolean()),
    disable_meta: z.optional(z.boolean()),
    disable_runs: z.optional(z.boolean()),
    disable_store: z.optional(z.boolean()),
    disable_threads: z.optional(z.boolean()),
  }),
  z.transform(
    ({ configurable_headers: { includes, excludes }, ...http }): HttpSection => ({
      app: http.app,
      apps: Object.entries(http.apps)
        .map(([path, app]) => ({ ...app, key: `http.apps.${path}`, path: placeOf(path) }))
        .sort((a, b) => b.path.length - a.path.length),
      cors: http.cors,
      mountPrefix: placeOf(http.mount_prefix ?? ''),
      disabled: new Set(PARTS.filter((part) => http[`disable_${part}`])),
      configurableHeaders: { includes, excludes: excludes ?? [] },
      authenticatesApp: http.enable_custom_route_auth !== false,
    }),
  ),
)

/** The section `store` of a `langgraph.json`: the long-term memory of graphs. */
export interface StoreSection {
  /** A `BaseStore` of the project, or a function that returns one. */
  readonly store: ExportPath | undefined
  /** A function that embeds texts, or LangChain embeddings. */
  readonly embed: ExportPath | undefined
  /** Everything else. */
  readonly options: GraphStoreOptions
  readonly unsupported: readonly string[]
}

const positive = z.custom<number>(
  (value) => typeof value === 'number' && value > 0,
  wrong('is not a positive number', 'a number above 0'),
)

/** An export, or the name of a model. */
const embed = z.pipe(
  z.string(),
  z.transform((text, payload) =>
    /\.\w+(:\w*)?$/.test(text) ? exportAt('store.index.embed', text, payload) : text,
  ),
)

/** The section `store` of a `langgraph.json`. */
export const STORE_SECTION = z.pipe(
  section({
    path: z.optional(exportPath('store.path')),
    index: section({
      embed: z.optional(embed),
      dims: z.optional(positive),
      fields: z.optional(strings),
    }),
    ttl: section({ default_ttl: z.nullish(positive), refresh_on_read: z.optional(z.boolean()) }),
  }),
  z.transform(
    ({ path, index: { embed, dims, fields }, ttl }): StoreSection => ({
      store: path,
      embed: typeof embed === 'string' ? undefined : embed,
      options: {
        ...(dims !== undefined && { dims }),
        ...(fields !== undefined && { fields }),
        ttl: {
          ...(ttl.default_ttl != null && { defaultTtl: ttl.default_ttl }),
          ...(ttl.refresh_on_read !== undefined && { refreshOnRead: ttl.refresh_on_read }),
        },
      },
      unsupported:
        typeof embed === 'string'
          ? ['store.index.embed: model names are not supported; name a function, such as ./embed.ts:embed.']
          : [],
    }),
  ),
)

/** The store of a section, with the exports that it names. */
export async function graphStoreOf(
  { store, embed, options }: StoreSection,
  load: (path: ExportPath) => Promise<unknown>,
  config: string,
): Promise<GraphStoreLike | GraphStoreOptions> {
  if (store) {
    const value = await load(store)
    const made = typeof value === 'function' ? await value() : await value
    if (typeof (made as GraphStoreLike | null)?.listNamespaces === 'function') return made as GraphStoreLike
    throw new ConfigError(
      `${config}: store.path does not name a store: the export has no listNamespaces method.`,
    )
  }
  return embed ? { ...options, embed: embedOf(await load(embed), config) } : options
}

type Embed = NonNullable<GraphStoreOptions['embed']>

function embedOf(value: unknown, config: string): Embed {
  if (typeof value === 'function') return value as Embed
  const { embedDocuments } = Object(value) as { readonly embedDocuments?: Embed }
  if (typeof embedDocuments === 'function') return (texts) => embedDocuments.call(value, texts)
  throw new ConfigError(
    `${config}: store.index.embed must be a function that takes texts, or an object with an embedDocuments method.`,
  )
}
