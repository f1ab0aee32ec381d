import { assertOperation } from './checks.ts'
import { listNamespaces } from './namespaces.ts'
import { getItem, type NamespaceItems, searchItems } from './read.ts'
import type { GraphStoreOperation, GraphStorePut } from './types.ts'
import { embedTexts, textsOf, type Vectors } from './vectors.ts'
import { lastWrites, writeItems } from './write.ts'

/**
 * Executes operations on one owner's items, and returns their results in order. If an operation is invalid,
 * it throws before any is executed.
 */
export async function runBatch(
  shelf: NamespaceItems,
  operations: readonly GraphStoreOperation[],
): Promise<readonly unknown[]> {
  const { options } = shelf
  for (const operation of operations) assertOperation(operation)
  const puts = lastWrites(operations.filter(isPut))
  const queries = operations.flatMap((one) => ('namespacePrefix' in one && one.query) || [])
  const texts = puts.flatMap((put) => textsOf(put, options))
  const vectors = await embedTexts([...queries, ...texts], options)
  const results = await Promise.all(operations.map((one) => readFor(shelf, one, vectors)))
  await writeItems(shelf, puts, vectors)
  return results
}

const isPut = (operation: GraphStoreOperation): operation is GraphStorePut => 'value' in operation

/** LangGraph returns null for a write. */
function readFor(shelf: NamespaceItems, operation: GraphStoreOperation, vectors: Vectors): unknown {
  if ('namespacePrefix' in operation) return searchItems(shelf, operation, vectors)
  if ('value' in operation) return null
  if ('key' in operation) return getItem(shelf, operation)
  return listNamespaces(shelf, operation)
}
