import { retryOnConflict } from '../coordination/retry.ts'
import type { Json } from '../store/store.ts'
import { deleteItem, ITEMS, itemAt, partitionOf, putItem, putNamespace, storedItem } from './layout.ts'
import { dropIfEmpty } from './namespaces.ts'
import type { NamespaceItems } from './read.ts'
import type { GraphStorePut } from './types.ts'
import { encodeVector, GraphStoreError, textsOf, type Vectors } from './vectors.ts'

/** The last write of each item, with values converted to JSON. */
export function lastWrites(puts: readonly GraphStorePut[]): GraphStorePut[] {
  const last = new Map(puts.map((put) => [JSON.stringify([put.namespace, put.key]), put]))
  return [...last.values()].map((put) => ({ ...put, value: put.value && asJson(put.value) }))
}

/** Writes each namespace in its own commit. */
export async function writeItems(
  shelf: NamespaceItems,
  puts: readonly GraphStorePut[],
  vectors: Vectors,
): Promise<void> {
  const byNamespace = new Map<string, GraphStorePut[]>()
  for (const put of puts) {
    const partition = partitionOf(shelf.owner, put.namespace)
    byNamespace.set(partition, [...(byNamespace.get(partition) ?? []), put])
  }
  await Promise.all(
    [...byNamespace].map(([partition, group]) => writeNamespace(shelf, partition, group, vectors)),
  )
}

async function writeNamespace(
  shelf: NamespaceItems,
  partition: string,
  puts: readonly GraphStorePut[],
  vectors: Vectors,
): Promise<void> {
  const drafts = puts.map((put) => ({ key: put.key, draft: draftOf(shelf, put, vectors) }))
  await retryOnConflict(() => tryWrite(shelf, partition, puts[0]!.namespace, drafts))
}

/** An item to write, except for its times. Undefined if it is deleted. */
type Draft = ReturnType<typeof draftOf>

function draftOf({ options }: NamespaceItems, put: GraphStorePut, vectors: Vectors) {
  const { namespace, key, value } = put
  if (value === null) return undefined
  const ttl = put.ttl === undefined ? options.ttl?.defaultTtl : put.ttl
  const stored = textsOf(put, options).map((text) => encodeVector(vectors.get(text)!))
  return {
    namespace,
    key,
    value: value as Readonly<Record<string, Json>>,
    ...(ttl != null && { ttl }),
    ...(stored.length > 0 && { vectors: stored }),
  }
}

async function tryWrite(
  { store, owner }: NamespaceItems,
  partition: string,
  namespace: readonly string[],
  drafts: readonly { readonly key: string; readonly draft: Draft }[],
): Promise<void> {
  const before = await Promise.all(drafts.map(({ key }) => store.get(partition, ITEMS, key)))
  const now = Date.now()
  const ops = drafts.flatMap(({ key, draft }, index) => {
    const found = before[index]
    if (!draft) return found ? [deleteItem(key)] : []
    const old = found && storedItem(found)
    const times = {
      createdAt: old?.createdAt ?? now,
      // Increases even if the clock does not, or if another instance has a faster clock.
      updatedAt: old ? Math.max(now, old.updatedAt + 1) : now,
    }
    return [putItem(owner, { ...draft, ...times })]
  })
  if (ops.length === 0) return
  const guards = drafts.map(({ key }, index) => itemAt(key, before[index]))
  // Its version increases with every new item, so that a namespace with a new item is not deleted.
  const begins = drafts.some(({ draft }, index) => draft && !before[index])
  await store.commit(partition, { guards, ops: begins ? [...ops, putNamespace(owner, namespace)] : ops })
  if (drafts.some(({ draft }) => !draft)) await dropIfEmpty({ store, owner }, namespace)
}

function asJson(value: Record<string, unknown>): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch (cause) {
    throw new GraphStoreError('invalid_value', 'The value of an item must be a JSON object.', { cause })
  }
}
