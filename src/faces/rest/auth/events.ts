import { type Fields, isRecord } from '../../../messages/record.ts'
import type { ThreadAction, ThreadResource } from '../../kit/access.ts'

/** Our actions that have another event name in an `Auth`. */
const NAMES: Readonly<Partial<Record<ThreadAction, string>>> = {
  'threads:list': 'threads:search',
  'threads:stream': 'threads:read',
  'runs:create': 'threads:create_run',
  'runs:read': 'threads:read',
  'runs:cancel': 'threads:update',
  'runs:delete': 'threads:delete',
}

/** Such as `threads:create_run`. */
export const nameOf = (action: ThreadAction): string => NAMES[action] ?? action

/** Events whose handlers may set metadata, which is stored with what the request creates or changes. */
const WITH_METADATA = /^(threads:(create|create_run|update)|(assistants|crons):(create|update))$/

/** The body field that handlers see as `namespace`, if its name differs. */
const NAMESPACES: Fields = { 'store:search': 'namespace_prefix', 'store:list_namespaces': 'prefix' }
const namespaceField = (event: string): string => (NAMESPACES[event] as string | undefined) ?? 'namespace'

/** Fields of a run request that are not part of its `kwargs`. */
const OF_RUN = [
  'metadata',
  'multitask_strategy',
  'if_not_exists',
  'after_seconds',
  'thread_id',
  'assistant_id',
]

/** The value that handlers receive for a request. They may change it: it is a copy. */
export function valueFor(event: string, sent: unknown, resource: ThreadResource): Record<string, unknown> {
  const { metadata, ...fields }: Fields = structuredClone(isRecord(sent) ? sent : {})
  const { threadId, assistantId, namespace, key } = resource
  return {
    ...(event === 'threads:create_run' ? runFields(fields) : fields),
    ...(namespace && { namespace: [...namespace] }),
    ...(key !== undefined && { key }),
    ...(threadId !== undefined && { thread_id: threadId }),
    ...(assistantId !== undefined && { assistant_id: assistantId }),
    ...((WITH_METADATA.test(event) || metadata != null) && { metadata: metadata ?? {} }),
  }
}

function runFields(fields: Fields): Fields {
  const entries = Object.entries(fields)
  return {
    status: 'pending',
    ...Object.fromEntries(entries.filter(([name]) => OF_RUN.includes(name))),
    kwargs: Object.fromEntries(entries.filter(([name]) => !OF_RUN.includes(name))),
  }
}

/**
 * The request's fields after a handler has changed them: its metadata, and the namespace of a store. Throws
 * `TypeError` for values of another type.
 */
export function fieldsAfter(event: string, sent: unknown, value: Fields): Fields {
  const { metadata, namespace } = value
  if (event.startsWith('store:')) {
    if (namespace === undefined) return {}
    if (!Array.isArray(namespace))
      throw new TypeError(`A handler of ${event} set a namespace that is not an array.`)
    return { [namespaceField(event)]: namespace }
  }
  const given = isRecord(sent) ? sent.metadata : undefined
  // The endpoint rejects metadata of another type.
  if (!WITH_METADATA.test(event) || (given != null && !isRecord(given))) return {}
  if (!isRecord(metadata)) throw new TypeError(`A handler of ${event} set metadata that is not an object.`)
  return given == null && Object.keys(metadata).length === 0 ? {} : { metadata }
}
