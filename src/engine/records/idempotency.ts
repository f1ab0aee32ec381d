import type { Doc, DocKey, Guard, Json, Op, Store } from '../../storage/store/store.ts'
import { RunError } from '../errors.ts'

/**
 * Identifies a command, so that a repeated one gets the first result. It is written to the thread's partition
 * in the command's commit, and kept for 24 hours. See docs/decisions/0005-idempotency.md.
 */
export interface CommandKey {
  /** Chosen by the sender, 1 to 255 characters. Its scope is the thread. */
  readonly key: string
  /** A digest of the command. The same key with another digest is rejected. */
  readonly fingerprint: string
}

/** The result of a command: a started run, a written state, or a created thread. */
export type Receipt = RunReceipt | StateReceipt | ThreadReceipt

/** The result of a command that started a run. */
export interface RunReceipt {
  readonly runId: string
  /** The last sequence number of the thread before the command took effect. */
  readonly appliedThroughSeq: number
}

/** The result of a command that wrote a state. */
export interface StateReceipt {
  readonly checkpointId: string
  readonly appliedThroughSeq: number
}

/** The result of a command that created a thread. */
export interface ThreadReceipt {
  readonly threadId: string
  readonly appliedThroughSeq: number
}

/** A command that needs more than one commit, as it was when it began. */
export interface InFlight {
  /** The fencing token of its lease. */
  readonly token: number
  /** The newest checkpoint before it. */
  readonly base: string | null
}

interface CommandRecord {
  readonly fingerprint: string
  readonly receipt: Receipt | null
  readonly inFlight: InFlight | null
}

/** The stored record of a command, and the guards of its next write. */
export interface LoadedReceipt {
  readonly receipt: Receipt | null
  readonly inFlight: InFlight | null
  readonly guards: readonly Guard[]
}

const COLLECTION = 'commands'
const TTL_MS = 24 * 60 * 60 * 1000

/** The document of a command. A command without a key has none. */
export const receiptKey = (command: CommandKey | undefined): readonly DocKey[] =>
  command ? [{ collection: COLLECTION, id: command.key }] : []

/** Throws `RunError` `key_reused` if another command has this key. */
export const loadReceipt = async (
  store: Store,
  threadId: string,
  command: CommandKey | undefined,
): Promise<LoadedReceipt> =>
  readReceipt(command, command && (await store.get(threadId, COLLECTION, command.key)))

/** The same, from the command's document that was already read. */
export function readReceipt(command: CommandKey | undefined, doc: Doc | undefined): LoadedReceipt {
  if (!command) return { receipt: null, inFlight: null, guards: [] }
  const at = { collection: COLLECTION, id: command.key }
  if (!doc) return { receipt: null, inFlight: null, guards: [{ guard: 'absent', ...at }] }
  const { fingerprint, receipt, inFlight } = doc.value as unknown as CommandRecord
  if (fingerprint !== command.fingerprint) {
    throw new RunError(
      'key_reused',
      'A different command was sent with this idempotency key. Send the same command again, or use a new key.',
    )
  }
  return { receipt, inFlight, guards: [{ guard: 'version', ...at, version: doc.version }] }
}

/** Thrown if the same command is in progress or done, but as another kind of operation than this request. */
export const concurrentDuplicate = (): RunError =>
  new RunError('thread_busy', 'The same command was sent twice at the same time. Send it again.')

/** Records the result of a command. */
export const putReceipt = (command: CommandKey | undefined, receipt: Receipt): readonly Op[] =>
  putRecord(command, { receipt, inFlight: null })

/** Records that a command is in progress. */
export const putInFlight = (command: CommandKey | undefined, inFlight: InFlight): readonly Op[] =>
  putRecord(command, { receipt: null, inFlight })

/** Deletes the record of a rejected command, so that a repeated one is evaluated again. */
export const deleteReceipt = (command: CommandKey | undefined): readonly Op[] =>
  command ? [{ op: 'delete', collection: COLLECTION, id: command.key }] : []

function putRecord(
  command: CommandKey | undefined,
  state: Pick<CommandRecord, 'receipt' | 'inFlight'>,
): readonly Op[] {
  if (!command) return []
  const record: CommandRecord = { fingerprint: command.fingerprint, ...state }
  return [
    { op: 'put', collection: COLLECTION, id: command.key, value: record as unknown as Json, ttlMs: TTL_MS },
  ]
}
