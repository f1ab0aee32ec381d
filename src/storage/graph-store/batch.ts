import * as z from 'zod/mini'
import { isRecord } from '../../core/record.ts'
import { retryOnConflict } from '../coordination/retry.ts'
import type { Json } from '../store/store.ts'
import { deleteItem, ITEMS, itemAt, partitionOf, putItem, putNamespace, storedItem } from './layout.ts'
import { dropIfEmpty, listNamespaces } from './namespaces.ts'
import { getItem, type NamespaceItems, searchItems } from './read.ts'
import type { GraphStoreOperation, GraphStorePut } from './types.ts'
import { embedTexts, encodeVector, GraphStoreError, textsOf, type Vectors } from './vectors.ts'

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

const MAX_LABELS = 32
/** An item is indexed under every prefix of its namespace. */
const MAX_NAMESPACE = 1_024
const MAX_KEY = 1_024

const LABELS = 'The labels of a namespace must be non-empty strings without periods or NUL characters.'
const KEY = `A key must be a string of at most ${MAX_KEY} characters.`
const TTL = 'ttl must be a number of minutes above 0, or null.'

/** Reads accept any namespace, including an empty one. */
const namespace = z
  .array(z.string(LABELS).check(z.regex(/^[^.\0]+$/, LABELS)), 'A namespace must be an array of strings.')
  .check(
    z.maxLength(MAX_LABELS, `A namespace has at most ${MAX_LABELS} labels.`),
    z.refine(
      (labels) => labels.join('').length <= MAX_NAMESPACE,
      `A namespace has at most ${MAX_NAMESPACE} characters in total.`,
    ),
  )

const namespaceOfItem = namespace.check(
  z.minLength(1, 'An item needs a namespace of at least one label.'),
  z.refine(
    ([first]) => first !== 'langgraph',
    'The first label of a namespace must not be langgraph, which is reserved.',
  ),
)

const key = z.string(KEY).check(z.maxLength(MAX_KEY))

function integer(name: string, least: number) {
  return z.optional(z.int(`${name} must be an integer of at least ${least}.`).check(z.gte(least)))
}

const page = { limit: integer('limit', 0), offset: integer('offset', 0) }

const READ = z.object({ namespace, key })

const PUT = z.object({
  namespace: namespaceOfItem,
  key,
  value: z.custom<object>(isRecord, 'The value of an item must be a JSON object.'),
  index: z.nullish(
    z.union([z.literal(false), z.array(z.string())], 'index must be false or an array of paths.'),
  ),
  ttl: z.nullish(z.number(TTL).check(z.gt(0))),
})

const SEARCH = z.object({ namespacePrefix: namespace, ...page })

const LIST = z.object({
  matchConditions: z.optional(
    z.array(
      z.object({
        matchType: z.enum(['prefix', 'suffix'], {
          error: ({ input }) => `matchType must be prefix or suffix, not ${String(input)}.`,
        }),
        path: namespace,
      }),
    ),
  ),
  maxDepth: integer('maxDepth', 1),
  ...page,
})

function schemaOf(operation: GraphStoreOperation) {
  if ('namespacePrefix' in operation) return SEARCH
  if (!('key' in operation)) return LIST
  return 'value' in operation && operation.value !== null ? PUT : READ
}

/** The error code of an invalid field. */
const CODES: Readonly<Record<PropertyKey, string>> = {
  namespace: 'invalid_namespace',
  namespacePrefix: 'invalid_namespace',
  path: 'invalid_namespace',
  key: 'invalid_key',
  value: 'invalid_value',
}

/** Validates an operation. Called for a whole batch before any operation is executed. */
function assertOperation(operation: GraphStoreOperation): void {
  const { error } = z.safeParse(schemaOf(operation), operation)
  if (!error) return
  const { message, path } = error.issues[0]!
  const field = path.find((name) => Object.hasOwn(CODES, name))
  throw new GraphStoreError(field === undefined ? 'invalid_argument' : CODES[field]!, message)
}

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
