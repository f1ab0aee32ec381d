import { toHex } from '../../core/bytes.ts'
import { formatUuid } from '../../core/ids.ts'
import { ConflictError, type Store } from '../../storage/index.ts'
import { internalsOf, type ServedEngine } from '../index.ts'
import type { StoredAssistant } from './record.ts'

/** The namespace of system assistants' ids, as on LangGraph Platform. */
const NAMESPACE = '6ba7b8219dad11d180b400c04fd430c8'

/** The id of a graph's system assistant: a UUID version 5 (RFC 9562 §5.5), the same on every server. */
export async function systemAssistantId(graphId: string): Promise<string> {
  const namespace = Uint8Array.from(NAMESPACE.match(/../g)!, (pair) => Number.parseInt(pair, 16))
  const name = new TextEncoder().encode(graphId)
  const bytes = new Uint8Array(namespace.length + name.length)
  bytes.set(namespace)
  bytes.set(name, namespace.length)
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-1', bytes), 0, 16)
  hash[6] = (hash[6]! & 0x0f) | 0x50
  hash[8] = (hash[8]! & 0x3f) | 0x80
  return formatUuid(toHex(hash))
}

const ids = new WeakMap<ServedEngine['agents'], Map<string, Promise<string>>>()

/** The id of the system assistant of an agent of this engine. */
export function idOfGraph({ agents }: Pick<ServedEngine, 'agents'>, graphId: string): Promise<string> {
  let known = ids.get(agents)
  if (!known) ids.set(agents, (known = new Map()))
  let id = known.get(graphId)
  if (!id) known.set(graphId, (id = systemAssistantId(graphId)))
  return id
}

/** The agent whose system assistant has the id. */
export async function graphOfId(engine: ServedEngine, assistantId: string): Promise<string | undefined> {
  for (const graphId of engine.agents.keys())
    if ((await idOfGraph(engine, graphId)) === assistantId) return graphId
  return undefined
}

/** A system assistant without changes: version 1, with its graph and the graph's defaults. */
export async function systemAssistant(
  engine: ServedEngine,
  owner: string | null,
  graphId: string,
): Promise<StoredAssistant> {
  const [assistantId, since] = await Promise.all([
    idOfGraph(engine, graphId),
    firstServed(internalsOf(engine).store, graphId),
  ])
  const { description = null, defaults = {} } = engine.agents.get(graphId) ?? {}
  return {
    assistantId,
    graphId,
    version: 1,
    name: graphId,
    description,
    config: defaults.config ?? {},
    context: defaults.context ?? {},
    metadata: { created_by: 'system' },
    owner,
    isSystem: true,
    createdAt: since,
    updatedAt: since,
    newestVersion: 1,
  }
}

const COLLECTION = 'graphs'
const times = new WeakMap<Store, Map<string, Promise<number>>>()

/**
 * When a graph was first served from this store, in milliseconds since 1970. It is stored, so that its
 * assistant has the same position in lists on every instance.
 */
function firstServed(store: Store, graphId: string): Promise<number> {
  let known = times.get(store)
  if (!known) times.set(store, (known = new Map()))
  let time = known.get(graphId)
  if (!time) {
    time = readFirstServed(store, graphId)
    known.set(graphId, time)
    time.catch(() => known.delete(graphId))
  }
  return time
}

async function readFirstServed(store: Store, graphId: string): Promise<number> {
  const place = `\u001fgraph ${graphId}`
  const doc = await store.get(place, COLLECTION, graphId)
  if (doc) return doc.value as number
  const { now } = await store.inspect(place)
  try {
    await store.commit(place, {
      guards: [{ guard: 'absent', collection: COLLECTION, id: graphId }],
      ops: [{ op: 'put', collection: COLLECTION, id: graphId, value: now }],
    })
    return now
  } catch (error) {
    if (error instanceof ConflictError) return readFirstServed(store, graphId)
    throw error
  }
}
