import * as z from 'zod/mini'
import type { GraphStoreLike, GraphStoreOptions } from '../../storage/graph-store/index.ts'
import {
  ConfigError,
  type ExportPath,
  exportAt,
  exportPath,
  section,
  strings,
  wrong,
} from './config-reader.ts'

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
