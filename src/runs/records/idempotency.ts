import type { Guard, Json, Op, Store } from '../../storage/store/store.ts'
import { RunError } from '../errors.ts'

/**
 * What makes a command one and the same when it comes twice. Kept in the thread's partition, in the commit that the command
 * makes, for 24 hours: whoever sends it again gets the first answer. See docs/decisions/0005-idempotency.md.
 */
export interface CommandKey {
  /** Its sender's name for it, 1 to 255 characters. Of no meaning outside the thread. */
  readonly key: string
  /** A digest of what is commanded: under one key always the same. */
  readonly fingerprint: string
}

/** What a command came to: a run that was started, a state that was written, or a thread that was made. */
export type Receipt = Started | Written | Made

export interface Started {
  readonly runId: string
  /** The last sequence number of the thread before the command took effect. */
  readonly appliedThroughSeq: number
}

export interface Written {
  readonly checkpointId: string
  readonly appliedThroughSeq: number
}

export interface Made {
  readonly threadId: string
  readonly appliedThroughSeq: number
}

/** A command that needs more than one commit, and where it began. */
export interface InFlight {
  /** The lease it is done under. */
  readonly token: number
  /** The newest checkpoint before it. */
  readonly base: string | null
}

interface CommandRecord {
  readonly fingerprint: string
  readonly receipt: Receipt | null
  readonly inFlight: InFlight | null
}

/** What is known of a command, and the guard of its next write. */
export interface LoadedReceipt {
  readonly receipt: Receipt | null
  readonly inFlight: InFlight | null
  readonly guards: readonly Guard[]
}

const COLLECTION = 'commands'
const TTL_MS = 24 * 60 * 60 * 1000

/** Throws `RunError` `key_reused` when another command has this key. */
export async function loadReceipt(
  store: Store,
  threadId: string,
  command: CommandKey | undefined,
): Promise<LoadedReceipt> {
  if (!command) return { receipt: null, inFlight: null, guards: [] }
  const at = { collection: COLLECTION, id: command.key }
  const doc = await store.get(threadId, COLLECTION, command.key)
  if (!doc) return { receipt: null, inFlight: null, guards: [{ guard: 'absent', ...at }] }
  const { fingerprint, receipt, inFlight } = doc.value as unknown as CommandRecord
  if (fingerprint !== command.fingerprint) {
    throw new RunError(
      'key_reused',
      'Another command was sent with this idempotency key. Send the same command again, or use a new key.',
    )
  }
  return { receipt, inFlight, guards: [{ guard: 'version', ...at, version: doc.version }] }
}

/** For one that finds the same command done, or being done, in a way that it does not expect. */
export const sentTwiceAtOnce = (): RunError =>
  new RunError('thread_busy', 'The same command was sent twice at once. Send it again.')

/** Enters what a command came to. */
export const putReceipt = (command: CommandKey | undefined, receipt: Receipt): readonly Op[] =>
  putRecord(command, { receipt, inFlight: null })

/** Enters that a command is being done. */
export const putInFlight = (command: CommandKey | undefined, inFlight: InFlight): readonly Op[] =>
  putRecord(command, { receipt: null, inFlight })

/** Of a command that was refused nothing is kept. */
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
