import type { StateSnapshot } from '../../agents/agent.ts'
import {
  type AgentEngine,
  type HeldLease,
  internalsOf,
  type RunRecord,
  type ThreadInspection,
  type ThreadRecord,
  unanswered,
} from '../../engine/index.ts'
import type { ModelPrice } from './context.ts'

/** What the page gets from its server, in snake_case. Times are milliseconds since 1970. */
export const presentThread = (thread: ThreadRecord) => ({
  thread_id: thread.threadId,
  title: titleOf(thread),
  assistant_id: thread.assistantId,
  status: thread.status,
  created_at: thread.createdAt,
  updated_at: thread.updatedAt,
  queued: thread.queue.length,
  /** The number of interrupts that wait for an answer. */
  interrupts: unanswered(thread).length,
})

/** The title that a client set, otherwise the title of the first input. */
export const titleOf = ({ metadata, title }: ThreadRecord): string | null =>
  typeof metadata.title === 'string' ? metadata.title : title

export const presentDetail = (
  engine: AgentEngine,
  thread: ThreadRecord,
  { head, firstRetained, lease, now }: ThreadInspection,
  runs: readonly RunRecord[],
) => ({
  ...presentThread(thread),
  metadata: thread.metadata,
  error: thread.error,
  active_run_id: thread.activeRunId,
  log: { head, first_retained: firstRetained },
  lease: presentLease(engine, thread, lease),
  /** Newest first. */
  runs: runs.map(presentRun),
  open_interrupts: unanswered(thread).map(({ id, value, runId, namespace }) => ({
    interrupt_id: id,
    value,
    run_id: runId,
    namespace,
  })),
  /** The store's clock. */
  now,
})

/** A thread has one holder. If this process works on it, the holder is this process. */
export const presentLease = (engine: AgentEngine, { threadId }: ThreadRecord, lease: HeldLease | null) =>
  lease && {
    /** The id of the engine that holds the thread. */
    holder: lease.holder,
    token: lease.token,
    expires_at: lease.expiresAt,
    /** Whether the engine that answers this request holds it. */
    is_here: internalsOf(engine).working(threadId) !== undefined,
  }

export const presentRun = (run: RunRecord) => ({
  run_id: run.runId,
  assistant_id: run.assistantId,
  status: run.status,
  created_at: run.createdAt,
  started_at: run.startedAt,
  /** The sequence number of its first event. Null while it is queued. */
  first_seq: run.firstSeq,
  attempts: run.attempts,
  multitask_strategy: run.multitaskStrategy,
  /** The checkpoint that it was forked from. */
  checkpoint_id: run.checkpointId,
  error: run.error,
})

export const presentCheckpoint = (snapshot: StateSnapshot) => ({
  checkpoint_id: snapshot.checkpoint.checkpointId,
  checkpoint_ns: snapshot.checkpoint.checkpointNs,
  parent_id: snapshot.parentCheckpoint?.checkpointId ?? null,
  step: numberOf(snapshot.metadata.step),
  source: typeof snapshot.metadata.source === 'string' ? snapshot.metadata.source : null,
  created_at: snapshot.createdAt,
  next: snapshot.next,
  tasks: snapshot.tasks.map(({ id, name, error, interrupts }) => ({
    task_id: id,
    name,
    error,
    interrupts: interrupts.length,
  })),
})

export const presentState = (snapshot: StateSnapshot) => ({
  ...presentCheckpoint(snapshot),
  values: snapshot.values,
  metadata: snapshot.metadata,
})

/** In US dollars per million tokens, by model name. */
export const presentPrices = (prices: Readonly<Record<string, ModelPrice>>) =>
  Object.fromEntries(
    Object.entries(prices).map(([model, { input, output, cacheRead = input, cacheWrite = input }]) => [
      model,
      { input, output, cache_read: cacheRead, cache_write: cacheWrite },
    ]),
  )

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)
