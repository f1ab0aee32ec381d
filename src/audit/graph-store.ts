import { checkOptions, type OptionTable } from '../core/options.ts'
import type { GraphStore, GraphStoreLike } from '../storage/graph-store/index.ts'
import type { Audit } from './check.ts'
import { batchRules, itemRules, ttlRules } from './graph-store/items.ts'
import { type GraphStoreContext, type GraphStoreIndex, INDEX } from './graph-store/rule.ts'
import { namespaceRules, searchRules, similarityRules } from './graph-store/search.ts'

export interface GraphStoreAuditOptions {
  /** Returns an empty store. */
  readonly create: () => GraphStoreLike | Promise<GraphStoreLike>
  /** Returns an empty store with similarity search. If omitted, the similarity rules are left out. */
  readonly createIndexed?: ((index: GraphStoreIndex) => GraphStoreLike | Promise<GraphStoreLike>) | undefined
  /**
   * Advances the store's clock by `ms` milliseconds. If omitted, time to live is not audited, because
   * LangGraph does not require it.
   */
  readonly advance?: ((ms: number) => void | Promise<void>) | undefined
}

const OPTIONS: OptionTable<GraphStoreAuditOptions> = {
  create: ['required', 'function'],
  createIndexed: 'function',
  advance: 'function',
}

/**
 * The requirements of every LangGraph `BaseStore`, for graphs and for the platform's REST API.
 *
 * ```ts
 * for (const audit of graphStoreAudits({ create: () => new MyStore() })) test(audit.name, audit.fn)
 * ```
 */
export function graphStoreAudits(options: GraphStoreAuditOptions): Audit[] {
  checkOptions('graphStoreAudits', options, OPTIONS)
  const { createIndexed, advance } = options
  const rules = [
    ...itemRules,
    ...batchRules,
    ...searchRules,
    ...namespaceRules,
    ...(createIndexed ? similarityRules : []),
    ...(advance ? ttlRules : []),
  ]
  return rules.map(({ id, name, check }) => ({
    id: `graph-store.${id}`,
    name,
    source: 'BaseStore of @langchain/langgraph-checkpoint',
    fn: async () => check(await contextOf(options)),
  }))
}

async function contextOf(options: GraphStoreAuditOptions): Promise<GraphStoreContext> {
  const { create, createIndexed, advance } = options
  return {
    store: asGraphStore(await create()),
    openIndexed: async (fields) =>
      asGraphStore(await createIndexed!({ ...INDEX, ...(fields && { fields }) })),
    advance: async (ms) => advance?.(ms),
  }
}

/** LangGraph types `batch` differently, but the method behaves the same. */
const asGraphStore = (store: GraphStoreLike): GraphStore => store as unknown as GraphStore
