import type { RunContext } from '../context.ts'
import { type CommandKey, type Receipt, readReceipt, receiptKey } from '../records/idempotency.ts'
import { loadWithState, readAnswer, type ThreadRecord, versioned } from '../records/records.ts'
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
