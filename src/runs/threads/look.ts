import type { RunContext } from '../context.ts'
import { type CommandKey, type Receipt, readReceipt, receiptKey } from '../records/idempotency.ts'
import { loadWithState, readAnswer, versioned } from '../records/records.ts'
import type { LoadedStart, ThreadLook } from '../requests.ts'
import { type OwnedThread, ownThread, savedThread } from './threads.ts'

export interface LookQuery {
  /** The command whose result is asked for. */
  readonly command?: CommandKey | undefined
  /** The answer that is asked for. */
  readonly answerId?: string | undefined
  /** Whether a thread that only the checkpointer knows counts, as in `findThread`. Default true. */
  readonly saved?: boolean | undefined
}

/**
 * Reads a thread together with what a request asks of it. A run that is started with what was seen reads nothing of it again: its
 * commit is guarded by it.
 */
export async function lookAtThread(
  context: RunContext,
  { command, answerId, saved = true, ...asked }: OwnedThread & LookQuery,
): Promise<ThreadLook> {
  const ofCommand = receiptKey(command)
  const ofAnswer = answerId === undefined ? [] : [{ collection: 'tasks', id: answerId }]
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

/** The recorded result of the command that was asked for. Throws `key_reused`. */
export const receiptIn = ({ command, loaded }: ThreadLook): Receipt | null =>
  readReceipt(command, (loaded as LoadedStart).docs[0]).receipt
