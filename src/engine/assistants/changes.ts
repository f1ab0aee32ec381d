import { agentIds } from '../../agents/agent-ids.ts'
import { uuid7 } from '../../core/ids.ts'
import { ownerOf, type Principal } from '../../core/principal.ts'
import { ConflictError } from '../../storage/index.ts'
import { internalsOf, RunError, type ServedEngine } from '../index.ts'
import { retryConflicts } from '../records/thread.ts'
import { graphNamed, isShown, noSuchAssistant, readAssistant, requireAssistant } from './find.ts'
import {
  ASSISTANTS,
  type AssistantRecord,
  type Fields,
  placeOf,
  putAssistant,
  putVersion,
  recordOf,
  type StoredAssistant,
  VERSIONS,
} from './record.ts'
import { graphOfId, systemAssistant } from './system.ts'

/** The fields of an assistant that clients can set. */
export interface AssistantFields {
  readonly graphId: string
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly config?: AssistantRecord['config'] | undefined
  readonly context?: Fields | undefined
  readonly metadata?: Fields | undefined
}

export interface NewAssistant extends AssistantFields {
  /** A UUID. Default: a new one. */
  readonly assistantId?: string | undefined
}

type Caller = Principal | null | undefined

/**
 * Creates an assistant. Undefined if the principal already has one with this id, or if it is the id of a
 * system assistant.
 */
export async function createAssistant(
  engine: ServedEngine,
  principal: Caller,
  { assistantId = uuid7(), graphId: named, ...fields }: NewAssistant,
): Promise<AssistantRecord | undefined> {
  const owner = ownerOf(principal)
  const id = assistantId.toLowerCase()
  const graphId = requireGraph(engine, named)
  if (await graphOfId(engine, id)) return undefined
  const place = placeOf(owner, id)
  // The graph's system assistant must be older.
  const { createdAt: since } = await systemAssistant(engine, owner, graphId)
  const { now } = await internalsOf(engine).store.inspect(place)
  const createdAt = Math.max(now, since + 1)
  const { name = 'Untitled', description = null, config = {}, context = {}, metadata = {} } = fields
  const record: StoredAssistant = {
    assistantId: id,
    graphId,
    version: 1,
    name,
    description,
    config,
    context,
    metadata,
    owner,
    isSystem: false,
    createdAt,
    updatedAt: createdAt,
    newestVersion: 1,
  }
  try {
    await internalsOf(engine).store.commit(place, {
      guards: [{ guard: 'absent', collection: ASSISTANTS, id }],
      ops: [putAssistant(record), putVersion(record)],
    })
    return record
  } catch (error) {
    if (error instanceof ConflictError) return undefined
    throw error
  }
}

/**
 * Creates a version of an assistant with the given fields, and activates it. Metadata are merged, all other
 * fields replaced. A system assistant is changed only for this owner. Throws `no_such_assistant`.
 */
export const patchAssistant = (
  engine: ServedEngine,
  principal: Caller,
  idOrName: string,
  { graphId: named, metadata, ...fields }: Partial<AssistantFields>,
): Promise<AssistantRecord> =>
  change(engine, principal, idOrName, async (before) => {
    const graphId = named === undefined ? before.graphId : requireGraph(engine, named)
    if (before.isSystem && graphId !== before.graphId)
      throw new RunError(
        'invalid_argument',
        `graph_id: the assistant of graph ${JSON.stringify(before.graphId)} cannot be given another graph. Create a new assistant.`,
      )
    const version = before.newestVersion + 1
    const given = Object.entries(fields).filter(([, value]) => value !== undefined)
    return {
      ...before,
      ...Object.fromEntries(given),
      graphId,
      metadata: { ...before.metadata, ...metadata },
      version,
      newestVersion: version,
    }
  })

/** Activates a version of an assistant. Throws `no_such_assistant`, also for an unknown version. */
export const setLatestVersion = (
  engine: ServedEngine,
  principal: Caller,
  idOrName: string,
  version: number,
): Promise<AssistantRecord> =>
  change(engine, principal, idOrName, async (before) => {
    if (version === before.version) return before
    const { owner, assistantId, createdAt, newestVersion } = before
    const doc = await internalsOf(engine).store.get(placeOf(owner, assistantId), VERSIONS, `${version}`)
    if (!doc) throw new RunError('no_such_assistant', 'Assistant version not found')
    return { ...recordOf(doc), createdAt, newestVersion }
  })

/**
 * Deletes an assistant with its versions. Returns its id. Throws `no_such_assistant`, and `not_supported` for
 * a system assistant.
 */
export async function deleteAssistant(
  engine: ServedEngine,
  principal: Caller,
  idOrName: string,
): Promise<string> {
  const { assistantId, owner, isSystem } = await requireAssistant(engine, principal, idOrName)
  if (isSystem)
    throw new RunError(
      'not_supported',
      'A system assistant exists as long as its graph. To undo its changes, make version 1 the latest.',
    )
  await internalsOf(engine).store.commit(placeOf(owner, assistantId), { ops: [{ op: 'clear' }] })
  return assistantId
}

/** Reads, changes and writes an assistant, including its version if it is new. */
function change(
  engine: ServedEngine,
  principal: Caller,
  idOrName: string,
  changed: (before: StoredAssistant) => Promise<StoredAssistant>,
): Promise<AssistantRecord> {
  return retryConflicts(async () => {
    const read = await readAssistant(engine, principal, idOrName)
    if (!read) throw noSuchAssistant()
    const { record: before, docVersion } = read
    // If all callers share one owner, they share changes of a system assistant, so only callers whose filter
    // matches it may change it.
    if (!isShown(principal, before)) throw noSuchAssistant()
    const after = await changed(before)
    if (after === before) return before
    const { owner, assistantId: id } = before
    const place = placeOf(owner, id)
    const { now } = await internalsOf(engine).store.inspect(place)
    const record = { ...after, updatedAt: Math.max(now, before.updatedAt + 1) }
    await internalsOf(engine).store.commit(place, {
      guards: [
        docVersion === undefined
          ? { guard: 'absent', collection: ASSISTANTS, id }
          : { guard: 'version', collection: ASSISTANTS, id, version: docVersion },
      ],
      ops: [
        putAssistant(record),
        ...(docVersion === undefined ? [putVersion(before)] : []),
        ...(record.version > before.newestVersion ? [putVersion(record)] : []),
      ],
    })
    return record
  }, 'assistant')
}

function requireGraph(engine: ServedEngine, name: string): string {
  const graphId = graphNamed(engine, name)
  if (graphId !== undefined) return graphId
  const known = agentIds(engine.agents)
  throw new RunError('invalid_argument', `graph_id: unknown graph. This server has: ${known}.`)
}
