import { HttpError } from '../../../core/http/index.ts'
import { accessOf } from '../../../core/principal.ts'
import { internalsOf } from '../../../engine/index.ts'
import { GraphStoreError } from '../../../storage/graph-store/index.ts'
import type { ThreadResource } from '../../kit/access.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import { filteredStore, type ServedStore } from './filtered.ts'

/**
 * The fields of a store request: its body or the query of a GET, overridden by fields that `authorize` has
 * set.
 */
export async function fieldsOf({
  request,
  url,
  json,
}: Pick<FaceCall, 'request' | 'url' | 'json'>): Promise<unknown> {
  const body = await json()
  if (request.method !== 'GET') return body
  const { searchParams } = url
  const namespace = searchParams.get('namespace')
  return {
    namespace: namespace ? namespace.split('.') : [],
    key: searchParams.get('key') ?? undefined,
    ...(body as object | null | undefined),
  }
}

/** The resource for `authorize`. */
export async function resourceOf(
  _context: PlatformContext,
  call: Parameters<typeof fieldsOf>[0],
): Promise<ThreadResource> {
  const fields = Object((await fieldsOf(call)) ?? {})
  const namespace = fields.namespace ?? fields.namespace_prefix ?? fields.prefix ?? []
  return {
    namespace: Array.isArray(namespace) ? namespace.map(String) : [],
    ...(typeof fields.key === 'string' && { key: fields.key }),
  }
}

/** The caller's store. Throws 403 if all users share it and there is no `authorize`. */
export function storeOf({ engine, authorize }: PlatformContext, { principal }: FaceCall): ServedStore {
  const { metadataFilter } = accessOf(principal)
  if (!internalsOf(engine).sharesGraphStore || principal === null || authorize) {
    const store = engine.graphStore(principal)
    return metadataFilter ? filteredStore(store, metadataFilter) : store
  }
  throw new HttpError(
    403,
    'permission_denied',
    'All users share the store of this server. It is served only when `authorize` decides which namespaces each user may use.',
  )
}

/** Throws 400 if there is none, and 422 for a label that no item can have. */
export function assertNamespace(namespace: readonly string[] | undefined): asserts namespace is string[] {
  if (!namespace?.length) throw new HttpError(400, 'invalid_argument', 'Namespace is required')
  assertLabels(namespace)
}

export function assertLabels(namespace: readonly string[] = []): void {
  if (namespace.every((label) => label !== '' && !label.includes('.'))) return
  const message = `The labels of a namespace cannot be empty or contain periods: ${JSON.stringify(namespace)}.`
  throw new HttpError(422, 'invalid_namespace', message)
}

/**
 * Calls the store and maps its rejections to 400 and 422. Custom stores throw LangGraph's
 * `InvalidNamespaceError`.
 */
export async function ask<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof GraphStoreError && error.code !== 'embed_failed')
      throw new HttpError(error.code === 'invalid_argument' ? 400 : 422, error.code, error.message)
    if (error instanceof Error && error.name === 'InvalidNamespaceError')
      throw new HttpError(422, 'invalid_namespace', error.message)
    throw error
  }
}
