import { GraphStoreError } from './errors.ts'
import type { GraphStoreOperation } from './types.ts'

const MAX_LABELS = 32
/** An item is indexed under every prefix of its namespace. */
const MAX_NAMESPACE = 1_024
const MAX_KEY = 1_024

/** Checks an operation before anything of its batch is done. */
export function assertOperation(operation: GraphStoreOperation): void {
  if ('namespacePrefix' in operation) {
    assertNamespace(operation.namespacePrefix, 'any')
    assertPage(operation)
  } else if ('key' in operation) {
    const writes = 'value' in operation && operation.value !== null
    assertNamespace(operation.namespace, writes ? 'own' : 'any')
    if (typeof operation.key !== 'string' || operation.key.length > MAX_KEY)
      throw new GraphStoreError('invalid_key', `A key is a string of at most ${MAX_KEY} characters.`)
    if (writes) assertPut(operation)
  } else {
    for (const { path, matchType } of operation.matchConditions ?? []) {
      if (matchType !== 'prefix' && matchType !== 'suffix')
        throw new GraphStoreError(
          'invalid_argument',
          `matchType is prefix or suffix, not ${String(matchType)}.`,
        )
      assertNamespace(path, 'any')
    }
    if (operation.maxDepth !== undefined) assertWhole('maxDepth', operation.maxDepth, 1)
    assertPage(operation)
  }
}

/**
 * Items have a namespace of at least one label, the first not `langgraph`. Reads take any, also the empty
 * one.
 */
function assertNamespace(namespace: unknown, use: 'own' | 'any'): asserts namespace is string[] {
  if (!Array.isArray(namespace)) throw invalidNamespace('A namespace is an array of strings.')
  if (namespace.length > MAX_LABELS) throw invalidNamespace(`A namespace has at most ${MAX_LABELS} labels.`)
  let length = 0
  for (const label of namespace) {
    if (typeof label !== 'string' || label === '' || /[.\0]/.test(label))
      throw invalidNamespace(
        'The labels of a namespace are strings that are not empty and have no period and no NUL.',
      )
    length += label.length
  }
  if (length > MAX_NAMESPACE)
    throw invalidNamespace(`A namespace has at most ${MAX_NAMESPACE} characters in all.`)
  if (use === 'any') return
  if (namespace.length === 0) throw invalidNamespace('An item needs a namespace of at least one label.')
  if (namespace[0] === 'langgraph')
    throw invalidNamespace('No namespace begins with the label langgraph: it is reserved.')
}

function assertPut({ value, index, ttl }: { value: unknown; index?: unknown; ttl?: unknown }): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new GraphStoreError('invalid_value', 'The value of an item is an object of JSON.')
  const fields = Array.isArray(index) && index.every((path) => typeof path === 'string')
  if (index != null && index !== false && !fields)
    throw new GraphStoreError('invalid_argument', 'index is false or an array of paths.')
  if (ttl != null && !(typeof ttl === 'number' && ttl > 0 && Number.isFinite(ttl)))
    throw new GraphStoreError('invalid_argument', 'ttl is a number of minutes above 0, or null.')
}

function assertPage({ limit, offset }: { limit?: unknown; offset?: unknown }): void {
  if (limit !== undefined) assertWhole('limit', limit, 0)
  if (offset !== undefined) assertWhole('offset', offset, 0)
}

function assertWhole(name: string, value: unknown, least: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= least) return
  throw new GraphStoreError('invalid_argument', `${name} is a whole number from ${least}.`)
}

const invalidNamespace = (message: string): GraphStoreError =>
  new GraphStoreError('invalid_namespace', message)
