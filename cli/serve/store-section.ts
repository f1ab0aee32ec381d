import type { GraphStoreLike, GraphStoreOptions } from '../../src/graph-store/index.ts'
import { ConfigError, type ExportPath, type Reader } from './config-reader.ts'

/** The section `store` of a `langgraph.json`: the long-term memory of graphs. */
export interface StoreSection {
  /** A `BaseStore` of the project, or a function that gives one. */
  readonly store: ExportPath | undefined
  /** A function that makes vectors of texts, or LangChain embeddings. */
  readonly embed: ExportPath | undefined
  /** Everything else. */
  readonly options: GraphStoreOptions
  readonly unsupported: readonly string[]
}

export function storeSectionOf(at: Reader, section: Readonly<Record<string, unknown>>): StoreSection {
  const { index, ttl, path } = section
  const { embed, dims, fields } = at.optional('store.index', index)
  const times = at.optional('store.ttl', ttl)
  const isModel = typeof embed === 'string' && !/\.\w+(:\w*)?$/.test(embed)
  return {
    store: path === undefined ? undefined : at.exportPath('store.path', path),
    embed: embed === undefined || isModel ? undefined : at.exportPath('store.index.embed', embed),
    options: {
      ...(dims !== undefined && { dims: numberOf(at, 'store.index.dims', dims) }),
      ...(fields !== undefined && { fields: at.strings('store.index.fields', fields) }),
      ttl: {
        ...(times.default_ttl != null && {
          defaultTtl: numberOf(at, 'store.ttl.default_ttl', times.default_ttl),
        }),
        ...(times.refresh_on_read !== undefined && {
          refreshOnRead: at.flag('store.ttl.refresh_on_read', times.refresh_on_read),
        }),
      },
    },
    unsupported: isModel
      ? ['store.index.embed: no model is known by its name; name a function, such as ./embed.ts:embed.']
      : [],
  }
}

function numberOf(at: Reader, key: string, value: unknown): number {
  if (typeof value === 'number' && value > 0) return value
  throw at.wrong(key, 'is no number above 0', 'a number above 0')
}

/** The store that a section asks for, with the exports that it names. */
export async function graphStoreOf(
  { store, embed, options }: StoreSection,
  load: (path: ExportPath) => Promise<unknown>,
  config: string,
): Promise<GraphStoreLike | GraphStoreOptions> {
  if (store) {
    const value = await load(store)
    const made = typeof value === 'function' ? await value() : await value
    if (typeof (made as GraphStoreLike | null)?.listNamespaces === 'function') return made as GraphStoreLike
    throw new ConfigError(`${config}: store.path names no store: it has no listNamespaces.`)
  }
  return embed ? { ...options, embed: embedOf(await load(embed), config) } : options
}

type Embed = NonNullable<GraphStoreOptions['embed']>

function embedOf(value: unknown, config: string): Embed {
  if (typeof value === 'function') return value as Embed
  const { embedDocuments } = Object(value) as { readonly embedDocuments?: Embed }
  if (typeof embedDocuments === 'function') return (texts) => embedDocuments.call(value, texts)
  throw new ConfigError(`${config}: store.index.embed is no function of texts, and has no embedDocuments.`)
}
