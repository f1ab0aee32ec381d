import type { GraphStore, GraphStoreLike } from '../graph-store/index.ts'
import { checkOptions, type OptionTable } from '../options.ts'
import { batchRules } from './graph-store/batches.ts'
import { itemRules } from './graph-store/items.ts'
import { namespaceRules } from './graph-store/namespaces.ts'
import { type GraphStoreContext, type GraphStoreIndex, INDEX } from './graph-store/rule.ts'
import { searchRules } from './graph-store/search.ts'
import { similarityRules } from './graph-store/similarity.ts'
import { ttlRules } from './graph-store/ttl.ts'
import type { Audit } from './types.ts'

export interface GraphStoreAuditOptions {
  /** Gives an empty store. */
  readonly create: () => GraphStoreLike | Promise<GraphStoreLike>
  /** Gives an empty store that searches by similarity. Without it nothing of that is audited. */
  readonly createIndexed?: ((index: GraphStoreIndex) => GraphStoreLike | Promise<GraphStoreLike>) | undefined
  /**
   * Advances the clock of the store, in milliseconds. Without it times to live are not audited: LangGraph
   * requires none.
   */
  readonly advance?: ((ms: number) => void | Promise<void>) | undefined
}

const OPTIONS: OptionTable<GraphStoreAuditOptions> = {
  create: ['required', 'function'],
  createIndexed: 'function',
  advance: 'function',
}

/**
 * What every LangGraph `BaseStore` must do for graphs and for the platform's REST.
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

/** A store of LangGraph has another type of `batch`, which does the same. */
const asGraphStore = (store: GraphStoreLike): GraphStore => store as unknown as GraphStore
