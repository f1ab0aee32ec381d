import type {
  CheckpointConfig,
  Checkpointer,
  CheckpointMetadata,
  CheckpointTuple,
} from '../../../storage/checkpointer/checkpointer.ts'
import { fencedCheckpointer } from '../../../storage/checkpointer/fenced.ts'
import { CALLS, hooked, onCalls, type SaverHook } from '../../../storage/checkpointer/hooks.ts'
import { canReuseTuple } from '../../../storage/checkpointer/shared.ts'
import { retryUnavailable } from '../../../storage/coordination/retry.ts'
import { FencedError } from '../../../storage/errors.ts'
import { agentOf, type LaunchedRun, ownCheckpointerOf, type RunContext } from '../../context.ts'
import { noteFailure, type StorageHealth, withoutErrorWrites } from '../../failures.ts'
import { withoutUndone, withTaskWrites } from '../../records/kept-writes.ts'
import { EMPTY, type ThreadRecord } from '../../records/records.ts'
import { updateThread } from '../../records/thread.ts'
import type { WriteGate } from './write-gate.ts'

interface Attempt {
  readonly writes: WriteGate
  readonly storage: StorageHealth
  /** When the last commit started that held the lease, by `performance.now()`. */
  readonly heldAt: () => number
  /** Renews an expired lease. Throws if another process has taken it. */
  readonly renew: () => Promise<void>
  /** Aborts when the agent is stopped. */
  readonly signal: AbortSignal
}

/**
 * The checkpointer of an attempt: its agent's, with hooks. A call passes them from the first to the last, and
 * its result comes back from the last to the first, so their order is part of the meaning:
 *
 * | hook | what it does | why there |
 * |---|---|---|
 * | `noteFailures` | notes failures, and hides the errors that tasks write after one | sees what the agent sees: a failure that a retry mended is none |
 * | the write gate | lets writes wait for their events, and rejects them after a stop | a rejected write changes nothing below |
 * | `fromEmpty` | no state of the root until the run has written one | after the gate, and once for all attempts of a write: it counts what is stored |
 * | `asHead` | makes the run's states the head of a thread whose head was restored | likewise; its own commits do not repeat the write |
 * | `withoutUndone` | the restored checkpoint has the writes that it had | also for the state that the launch read |
 * | `retrying` | repeats calls while the database is away | around the lease's renewal and check, which need the database, too |
 * | `labelled` | adds ids and metadata to a checkpoint | on its way to the database |
 * | `withFirstRead` | the launch's read in place of the first | in place of the database, and of nothing above |
 * | `renewing` | renews an expired lease, and writes again | sees the fence's refusal before any other |
 * | the fence | rejects writes without the lease | in the transaction of the write |
 */
export function runSaver(context: RunContext, launched: LaunchedRun, attempt: Attempt): Checkpointer {
  const { run, thread, token, newest } = launched
  const { threadId, runId, assistantId } = run
  const own = ownCheckpointerOf(context, agentOf(context, assistantId))
  // The names are those of LangGraph's own servers.
  const ids = { thread_id: threadId, run_id: runId, graph_id: assistantId, assistant_id: assistantId }
  return hooked(fencedCheckpointer(own, context.store, threadId, token, attempt.heldAt), [
    noteFailures(attempt.storage),
    attempt.writes.hook,
    run.checkpointId === EMPTY && fromEmpty(),
    thread.restoredCheckpointId !== null && asHead(context, thread, token),
    withoutUndone(thread),
    retrying(context.retryForMs),
    labelled(ids, run.config.metadata),
    newest && withFirstRead(newest.tuple),
    renewing(attempt.renew, attempt.signal),
  ])
}

/**
 * Records failures in `health`. An agent may rethrow them with another message, so this is the only sign that
 * the text of its error may come from the storage.
 */
export function noteFailures(health: StorageHealth): SaverHook {
  const rethrow = (error: unknown): never => {
    noteFailure(health, error)
    throw error
  }
  const watch = <T>(work: () => T): T => {
    try {
      const result = work()
      return result instanceof Promise ? (result.catch(rethrow) as T) : result
    } catch (error) {
      return rethrow(error)
    }
  }
  return {
    ...onCalls(CALLS, watch),
    putWrites: (putWrites, config, writes, taskId) =>
      watch(() => putWrites(config, health.failed ? withoutErrorWrites(writes) : writes, taskId)),
    async *list(list, ...args) {
      try {
        yield* list(...args)
      } catch (error) {
        rethrow(error)
      }
    },
  }
}

/** Whether a call is about the root of the graph. */
const isOfRoot = ({ configurable }: CheckpointConfig): boolean => !configurable?.checkpoint_ns

/** Whether a read is about the newest state of the root. */
const isOfHead = (config: CheckpointConfig): boolean =>
  isOfRoot(config) && !config.configurable?.checkpoint_id

/** The root has no state until the run has written one. */
function fromEmpty(): SaverHook {
  let isEmpty = true
  return {
    getTuple: async (getTuple, config) => (isEmpty && isOfHead(config) ? undefined : getTuple(config)),
    async put(put, config, ...rest) {
      const saved = await put(config, ...rest)
      if (isOfRoot(config)) isEmpty = false
      return saved
    },
  }
}

/**
 * Makes the run's states the head of a thread whose head was restored by a rollback. The record is changed
 * after the second checkpoint: that it was written proves that the database still has the first, without
 * which the newest state would be that of the run that was undone. `hasWritten` finds the first one if the
 * run ends or its process is lost before.
 */
function asHead(
  context: RunContext,
  { threadId, restoredCheckpointId }: ThreadRecord,
  token: number,
): SaverHook {
  let puts = 0
  const update = (change: (now: ThreadRecord) => ThreadRecord | undefined) =>
    retryUnavailable(context.retryForMs, () =>
      updateThread(context.store, threadId, change, { guards: [{ guard: 'fence', token }] }),
    )
  return {
    async putWrites(putWrites, config, writes, taskId) {
      await putWrites(config, writes, taskId)
      const isOfRestored = isOfRoot(config) && config.configurable?.checkpoint_id === restoredCheckpointId
      if (puts > 1 || !isOfRestored || !withTaskWrites([], taskId, writes)) return
      await update((now) => {
        // Writes may be late, after a checkpoint of the run has become the head.
        if (now.restoredCheckpointId !== restoredCheckpointId || !now.restoredWrites) return undefined
        const restoredWrites = withTaskWrites(now.restoredWrites, taskId, writes)
        return restoredWrites && { ...now, restoredWrites }
      })
    },
    async put(put, config, ...rest) {
      const saved = await put(config, ...rest)
      if (isOfRoot(config) && ++puts === 2)
        await update((now) => ({ ...now, restoredCheckpointId: null, restoredWrites: undefined }))
      return saved
    },
  }
}

/** Retries while the database is unavailable. This is safe because puts are idempotent. */
export const retrying = (forMs: number): SaverHook | false =>
  forMs > 0 && {
    ...onCalls(
      CALLS.filter((name) => name !== 'deleteThread'),
      (call) => retryUnavailable(forMs, call),
    ),
    /** Retries only until the first tuple, because yielded tuples cannot be retracted. */
    async *list(list, ...args) {
      let tuples: AsyncGenerator<CheckpointTuple> | undefined
      const first = await retryUnavailable(forMs, () => (tuples = list(...args)).next())
      if (first.done) return
      try {
        yield first.value
        yield* tuples!
      } finally {
        await tuples!.return(undefined)
      }
    },
  }

type Fields = Readonly<Record<string, unknown>>

/**
 * Adds fields to every checkpoint's metadata, for filtering histories. Precedence: ids, then the agent's
 * metadata, then `more`.
 */
export const labelled = (ids: Fields, more?: Fields): SaverHook => ({
  put: (put, config, checkpoint, metadata, newVersions) =>
    put(config, checkpoint, { ...more, ...metadata, ...ids } as CheckpointMetadata, newVersions),
})

/**
 * The first read of the newest root state returns the value that the launch read. No other process has
 * written since, because that would have failed the launch's guards.
 */
function withFirstRead(tuple: CheckpointTuple | undefined): SaverHook {
  let isNewest = true
  return {
    async getTuple(getTuple, config) {
      if (!isNewest || !isOfHead(config)) return getTuple(config)
      // An agent may modify the value that it got.
      isNewest = false
      return canReuseTuple(config, tuple) ? tuple : getTuple(config)
    },
    ...onCalls(['put', 'putWrites'], (call) => {
      isNewest = false
      return call()
    }),
  }
}

/**
 * Writes renew an expired lease, like events. A stopped run may have been handed over, so its late writes
 * renew nothing.
 */
const renewing = (renew: () => Promise<void>, stopped: AbortSignal): SaverHook =>
  onCalls(['put', 'putWrites'], async (write) => {
    try {
      return await write()
    } catch (error) {
      if (stopped.aborted || !(error instanceof FencedError)) throw error
      await renew()
      return write()
    }
  })
