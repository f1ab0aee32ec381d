import { accessOf, type Principal, reaches } from '../../core/principal.ts'
import type { Store } from '../../storage/store/store.ts'
import type { RunContext } from '../context.ts'
import { type CommandKey, type Receipt, readReceipt, receiptKey } from '../records/idempotency.ts'
import { loadWithState, readAnswer, readThread, type ThreadRecord, versioned } from '../records/records.ts'
import type { LoadedStart, ThreadLook } from '../requests.ts'
import { type OwnedThread, ownThread, savedThread } from './threads.ts'

/** What to read together with a thread. */
export interface LookQuery {
  /** The command whose result to read. */
  readonly command?: CommandKey | undefined
  /** The answer to read. */
  readonly answerId?: string | undefined
  /** Whether a thread that only exists in the checkpointer counts, as in `findThread`. Default: true. */
  readonly saved?: boolean | undefined
}

/**
 * Reads a thread together with other records that a request needs. A run that is started with the result
 * reads nothing again: its commit is guarded by it.
 */
export async function lookAtThread(
  context: RunContext,
  { command, answerId, saved = true, ...asked }: OwnedThread & LookQuery,
): Promise<ThreadLook> {
  const ofCommand = receiptKey(command)
  const ofAnswer = answerId === undefined ? [] : [{ collection: 'answers', id: answerId }]
  const { docs, ...state } = await loadWithState(context.store, asked.threadId, ...ofCommand, ...ofAnswer)
  const record = state.read?.record
  const thread = record ? ownThread(record, asked) : saved ? await savedThread(context, asked) : undefined
  return {
    thread,
    isTaken: record !== undefined,
    answer: thread && versioned(docs[ofCommand.length], readAnswer)?.record,
    command,
    loaded: { ...state, docs: docs.slice(0, ofCommand.length) } satisfies LoadedStart,
  }
}

/** The recorded result of the requested command. Throws `key_reused`. */
export const receiptIn = ({ command, loaded }: ThreadLook): Receipt | null =>
  readReceipt(command, (loaded as LoadedStart).docs[0]).receipt

/** The record of the thread, whoever owns it: for permission checks. */
export const recordIn = ({ loaded }: ThreadLook): ThreadRecord | undefined =>
  (loaded as LoadedStart).read?.record

/** The state of a thread in the store, for monitoring. */
export interface ThreadInspection {
  /** The last sequence number of the log, and the first that it still has. */
  readonly head: number
  readonly firstRetained: number
  /** The process that holds the thread, and until when. Null if there is none. */
  readonly lease: HeldLease | null
  /** The store's clock, in milliseconds since 1970. */
  readonly now: number
}

export interface HeldLease {
  /** The id of an engine, new for each engine. */
  readonly holder: string
  /** The fencing token. Later holders have higher tokens. */
  readonly token: number
  /** By the store's clock, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** What the store knows about a thread in addition to its record from `findThread`. */
export async function inspectThread(
  store: Store,
  { threadId }: Pick<ThreadRecord, 'threadId'>,
): Promise<ThreadInspection> {
  const { head, firstRetained, lease, now } = await store.inspect(threadId)
  const held = lease && lease.expiresAt > now
  return {
    head,
    firstRetained,
    lease: held ? { holder: lease.owner, token: lease.token, expiresAt: lease.expiresAt } : null,
    now,
  }
}

/** The maximum of threads with waiting runs to read, for all owners. */
const MAX_QUEUED = 1_000

/** A principal's threads with waiting runs, longest waiting first. */
export async function listQueued(
  store: Store,
  principal: Principal | null,
): Promise<readonly ThreadRecord[]> {
  const { docs } = await store.list('threads', { orderBy: 'queued', limit: MAX_QUEUED })
  const access = accessOf(principal)
  return docs.map(readThread).filter((thread) => reaches(access, thread) && !thread.deleting)
}
