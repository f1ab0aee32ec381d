import * as z from 'zod/mini'
import { uuid7 } from '../../core/ids.ts'
import { ownerOf } from '../../core/principal.ts'
import { ConflictError, type Op, type Store } from '../../storage/index.ts'
import { listFitting, recordsOf } from '../../storage/store/pages.ts'
import { checkMatch, IF_MATCH } from '../api/headers.ts'
import { route, tagged } from '../api/route.ts'
import type { ControlPlaneContext } from '../context.ts'
import type { DeployRequest } from '../deployers/deployer.ts'
import { refusal } from '../errors.ts'
import { isoTime } from '../present.ts'
import { load, put, recordOf, retryConflicts, unchanged } from '../records/docs.ts'
import type { PageRequest } from '../records/records.ts'
import { ownerKey } from '../records/stored.ts'
import * as t from '../wire/common.ts'

const COMPUTE_TYPE = z.literal('k8s')
const COMPUTE_CONFIG = t.titled('ListenerComputeConfig', { k8s_namespaces: t.OPT_STRINGS })

const LISTENER_PATH = z.object({ listener_id: t.UUID })

const LISTENER = t.titled('Listener', {
  compute_type: COMPUTE_TYPE,
  compute_id: t.STRING,
  compute_config: COMPUTE_CONFIG,
  id: t.UUID,
  created_at: t.TIME,
  updated_at: t.TIME,
  version: t.OPT_STRING,
})

const LISTENER_PAGE = t.pageOf('ListenersList', LISTENER)

const LIST_LISTENERS = z.object(t.PAGE_QUERY)

const CREATE_LISTENER = t.titled('ListenerCreateRequest', {
  compute_type: COMPUTE_TYPE,
  compute_id: t.described(t.NOT_EMPTY, 'Unique in the workspace.'),
  compute_config: COMPUTE_CONFIG,
  version: t.OPT_STRING,
})

const PATCH_LISTENER = t.titled('ListenerPatchRequest', {
  version: t.OPT_STRING,
  compute_config: z.nullish(COMPUTE_CONFIG),
})

const TAG = 'Listeners (v2)'

const presentListener = ({ createdAt, updatedAt, compute_config, ...listener }: ListenerRecord) => ({
  ...listener,
  compute_type: 'k8s',
  compute_config: { k8s_namespaces: compute_config.k8s_namespaces ?? null },
  created_at: isoTime(createdAt),
  updated_at: isoTime(updatedAt),
})

const noListener = (id: string) => refusal(404, `Listener ID ${id} not found.`)

export const listenerOperations = tagged(TAG, [
  route('GET', '/v2/listeners', {
    summary: 'List Listeners',
    description: 'Newest first.',
    query: LIST_LISTENERS,
    answers: { 200: LISTENER_PAGE },
    run: async ({ store }, { query: { limit, offset }, call }) => {
      const page = await listListeners(store, ownerOf(call.principal), { limit, offset })
      return { body: { resources: page.map(presentListener), offset: offset + page.length } }
    },
  }),
  route('POST', '/v2/listeners', {
    summary: 'Create Listener',
    body: CREATE_LISTENER,
    answers: { 201: LISTENER },
    errors: [409],
    run: async ({ store, now }, { body, call }) => {
      const { compute_id, compute_config, version = null } = body
      const given = { compute_id, compute_config, version }
      return {
        body: presentListener(await createListener(store, ownerOf(call.principal), given, now())),
      }
    },
  }),
  route('GET', '/v2/listeners/:listener_id', {
    summary: 'Get Listener',
    params: LISTENER_PATH,
    answers: { 200: LISTENER },
    errors: [404],
    run: async ({ store }, { params: { listener_id: id }, call }) => {
      const listener = await findListener(store, ownerOf(call.principal), id)
      if (!listener) throw noListener(id)
      return { body: presentListener(listener) }
    },
  }),
  route('PATCH', '/v2/listeners/:listener_id', {
    summary: 'Patch Listener',
    description: 'What is left out or null stays as it is.',
    params: LISTENER_PATH,
    body: PATCH_LISTENER,
    headers: IF_MATCH,
    answers: { 200: LISTENER },
    errors: [404, 412],
    run: async ({ store, now }, { params: { listener_id: id }, body, call }) => {
      const listener = await changeListener(store, ownerOf(call.principal), id, (known) => {
        checkMatch(call.request, presentListener(known))
        return {
          ...known,
          version: body.version ?? known.version,
          compute_config: body.compute_config ?? known.compute_config,
          updatedAt: Math.max(now(), known.updatedAt),
        }
      })
      if (!listener) throw noListener(id)
      return { body: presentListener(listener) }
    },
  }),
  route('DELETE', '/v2/listeners/:listener_id', {
    summary: 'Delete Listener',
    params: LISTENER_PATH,
    headers: IF_MATCH,
    answers: { 204: null },
    errors: [404, 412],
    run: async ({ store }, { params: { listener_id: id }, call }) => {
      const deleted = await changeListener(store, ownerOf(call.principal), id, (known) => {
        checkMatch(call.request, presentListener(known))
        return undefined
      })
      if (!deleted) throw noListener(id)
      return {}
    },
  }),
])

/** Throws 400 if a workspace has listeners, and a deployment that needs one names none of them. */
export async function checkListener(
  { store }: ControlPlaneContext,
  owner: string | null,
  { source, sourceConfig }: Pick<DeployRequest, 'source' | 'sourceConfig'>,
): Promise<void> {
  if (source !== 'external_docker') return
  const { listener_id: id, listener_config: config } = sourceConfig
  if (id == null) {
    const [first] = await listListeners(store, owner, { limit: 1, offset: 0 })
    if (first) {
      throw refusal(400, "'source_config.listener_id' is required, because the workspace has listeners.")
    }
    return
  }
  const listener = await findListener(store, owner, id)
  if (!listener) throw refusal(400, noListener(id).message)
  const allowed = listener.compute_config.k8s_namespaces
  const namespace = config?.k8s_namespace
  if (allowed != null && namespace != null && !allowed.includes(String(namespace))) {
    throw refusal(400, `'source_config.listener_config.k8s_namespace' must be one of ${allowed.join(', ')}.`)
  }
}

/** A cluster that a user's listener watches, with wire names. */
interface ListenerRecord {
  readonly id: string
  readonly version: string | null
  readonly compute_id: string
  readonly compute_config: { readonly k8s_namespaces?: readonly string[] | null | undefined }
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** All of an owner's listeners are one partition, with a document for each and for each `compute_id`. */
const LISTENERS = 'listeners'
const COMPUTE_IDS = 'listener-compute-ids'
const ORDER = 'createdAt'

const partitionOf = (owner: string | null): string => `listeners:${ownerKey(owner)}`

const findListener = async (
  store: Store,
  owner: string | null,
  id: string,
): Promise<ListenerRecord | undefined> =>
  (await load<ListenerRecord>(store, partitionOf(owner), LISTENERS, id))?.record

/** Newest first. */
const listListeners = (
  store: Store,
  owner: string | null,
  page: PageRequest,
): Promise<readonly ListenerRecord[]> => {
  const query = { partition: partitionOf(owner), orderBy: ORDER, descending: true }
  return listFitting(
    recordsOf((doc) => recordOf<ListenerRecord>(doc), store, LISTENERS, query),
    () => true,
    page,
  )
}

/** Throws 409 if the owner has a listener with this `compute_id`. */
async function createListener(
  store: Store,
  owner: string | null,
  given: Pick<ListenerRecord, 'version' | 'compute_id' | 'compute_config'>,
  now: number,
): Promise<ListenerRecord> {
  const listener = { ...given, id: uuid7(now), createdAt: now, updatedAt: now }
  const { id, compute_id } = listener
  try {
    await store.commit(partitionOf(owner), {
      guards: [unchanged(COMPUTE_IDS, compute_id, undefined)],
      ops: [putListener(listener), { op: 'put', collection: COMPUTE_IDS, id: compute_id, value: id }],
    })
    return listener
  } catch (cause) {
    if (!(cause instanceof ConflictError)) throw cause
    throw refusal(409, 'A listener with this compute_id already exists in the workspace.', { cause })
  }
}

/**
 * Writes the result of `change` for a listener, or deletes the listener if the result is undefined. Returns
 * what was written or deleted, and undefined for an unknown listener. `change` may throw.
 */
const changeListener = (
  store: Store,
  owner: string | null,
  id: string,
  change: (listener: ListenerRecord) => ListenerRecord | undefined,
): Promise<ListenerRecord | undefined> =>
  retryConflicts(async () => {
    const read = await load<ListenerRecord>(store, partitionOf(owner), LISTENERS, id)
    if (!read) return undefined
    const changed = change(read.record)
    const ops: readonly Op[] = changed
      ? [putListener(changed)]
      : [
          { op: 'delete', collection: LISTENERS, id },
          { op: 'delete', collection: COMPUTE_IDS, id: read.record.compute_id },
        ]
    await store.commit(partitionOf(owner), { guards: [unchanged(LISTENERS, id, read)], ops })
    return changed ?? read.record
  })

const putListener = (listener: ListenerRecord): Op =>
  put(LISTENERS, listener.id, listener, { index: { [ORDER]: listener.createdAt } })
