import type { AgentEvent } from '../../agents/agent.ts'
import type { Guard, Op, PartitionState } from '../../storage/store/store.ts'
import { agentOf, checkpointerOf, type RunContext } from '../context.ts'
import { encodeFrame, pendingEvent } from '../log/frame.ts'
import { persist } from '../persist.ts'
import {
  guardThread,
  putRun,
  putThread,
  type RollbackPoint,
  type RunRecord,
  type ThreadRecord,
  type Versioned,
} from '../records/records.ts'

export interface ThreadClaim {
  readonly read: Versioned<ThreadRecord> | undefined
  readonly thread: ThreadRecord
  readonly run: RunRecord
  readonly state: PartitionState
  /** What else is checked and written with it. */
  readonly guards?: readonly Guard[]
  readonly ops?: readonly Op[]
}

export interface Launched {
  readonly thread: ThreadRecord
  readonly run: RunRecord
  readonly token: number
  readonly head: number
}

/** Somebody waits for the answer. */
const RETRY_FOR_MS = 1_000

/** Gives a run the thread: lease, records and its `running` event, in one commit. Throws `ConflictError` when another was first. */
export async function claimThread(
  context: RunContext,
  { read, thread, run, state, guards = [], ops = [] }: ThreadClaim,
): Promise<Launched> {
  const { threadId } = run
  const token = Math.max(state.token + 1, state.now)
  const running: RunRecord = {
    ...run,
    status: 'running',
    attempts: 1,
    rollbackPoint: await rollbackPointOf(context, thread, run),
  }
  const busy: ThreadRecord = {
    ...thread,
    status: 'busy',
    error: null,
    updatedAt: state.now,
    activeRunId: run.runId,
    lastRunId: run.runId,
    queue: thread.queue.filter(({ runId }) => runId !== run.runId),
    interrupts: unansweredInterrupts(thread, run),
    supersededThroughSeq: run.checkpointId === null ? thread.supersededThroughSeq : state.head,
  }
  const frame = encodeFrame(pendingEvent(rootLifecycle(run, 'running'), run.runId), token, state.head + 1)
  const head = state.head + 1
  await persist({
    store: context.store,
    threadId,
    token,
    before: state.head,
    after: head,
    retryForMs: RETRY_FOR_MS,
    change: {
      guards: [guardThread(threadId, read), { guard: 'free' }, { guard: 'head', seq: state.head }, ...guards],
      ops: [
        { op: 'claim', owner: context.instance, token, ttlMs: context.leaseTtlMs },
        putRun(running),
        putThread(busy),
        { op: 'append', token, events: [frame] },
        ...ops,
      ],
    },
  })
  return { thread: busy, run: running, token, head }
}

/** A resume leaves the interrupts it does not answer; a run that goes on without input leaves all; any other one drops them. */
function unansweredInterrupts(
  { interrupts }: ThreadRecord,
  { start, checkpointId }: RunRecord,
): ThreadRecord['interrupts'] {
  if (checkpointId !== null) return []
  if (start.kind === 'resume') return interrupts.filter(({ id }) => !(id in start.answers))
  return start.value === null ? interrupts : []
}

async function rollbackPointOf(
  context: RunContext,
  thread: ThreadRecord,
  run: RunRecord,
): Promise<RollbackPoint> {
  const { threadId, interrupts, restoredCheckpointId: head } = thread
  if (head !== null) return { checkpointId: head, interrupts }
  const checkpointer = checkpointerOf(context, agentOf(context, run.assistantId))
  const tuple = await checkpointer.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: '' } })
  return { checkpointId: tuple?.checkpoint.id ?? null, interrupts }
}

type RootState = 'running' | 'completed' | 'failed' | 'interrupted'

/** The events that only the engine may send: the state of a run as a whole. */
export const rootLifecycle = (run: RunRecord, event: RootState, error?: string): AgentEvent => ({
  method: 'lifecycle',
  namespace: [],
  data: { event, graph_name: run.assistantId, run_id: run.runId, ...(error !== undefined && { error }) },
})
