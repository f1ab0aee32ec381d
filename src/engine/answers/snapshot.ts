import type { StateSnapshot } from '../../agents/agent.ts'
import type { LoggedEvent } from '../../messages/thread-events/index.ts'
import { ConflictError } from '../../storage/errors.ts'
import type { RunContext } from '../context.ts'
import { logReader, readLogBatches } from '../log/decode.ts'
import type { Matcher } from '../log/frame.ts'
import { unanswered } from '../records/interrupts.ts'
import {
  type AnswerRecord,
  loadRun,
  loadThread,
  type OpenInterrupt,
  type RunRecord,
  type ThreadRecord,
} from '../records/records.ts'
import { retryConflicts } from '../records/thread.ts'
import { openQuestions, readState } from '../threads/state.ts'
import { type OwnedThread, ownThread, savedThread } from '../threads/threads.ts'
import { activeOf, answerOf } from './find.ts'

/** A thread at one position of its log. A reader can continue with the events after it. */
export interface ThreadSnapshot {
  readonly thread: ThreadRecord
  /** Undefined before the first checkpoint. */
  readonly state: StateSnapshot | undefined
  /** The questions without an answer. */
  readonly questions: readonly OpenInterrupt[]
  /** The answer that runs, waits for its turn, or has open questions. */
  readonly answer: AnswerRecord | null
  /** The sequence number of the position. Events with a higher number are not in the snapshot. */
  readonly seq: number
}

/** The options of a snapshot. */
export interface SnapshotQuery {
  /** Whether the state includes its subgraphs. Default: false. */
  readonly subgraphs?: boolean | undefined
}

/** Undefined if the caller has no such thread. */
export const readSnapshot = (
  context: RunContext,
  asked: OwnedThread & SnapshotQuery,
): Promise<ThreadSnapshot | undefined> => retryConflicts(() => attempt(context, asked))

async function attempt(
  context: RunContext,
  { subgraphs, ...asked }: OwnedThread & SnapshotQuery,
): Promise<ThreadSnapshot | undefined> {
  const { store } = context
  const { threadId } = asked
  const [{ head, firstRetained }, read] = await Promise.all([
    store.inspect(threadId),
    loadThread(store, threadId),
  ])
  const thread = read ? ownThread(read.record, asked) : await savedThread(context, asked)
  if (!thread) return undefined
  const { activeRunId } = thread
  const run = activeRunId === null ? undefined : (await loadRun(store, threadId, activeRunId))?.record
  if (run) {
    const during = await duringRun(context, thread, run, { head, firstRetained, subgraphs })
    if (during) return during
  }
  const [state, found] = await Promise.all([
    readState(context, thread, { subgraphs }),
    activeOf(context, thread),
  ])
  const [now, after] = await Promise.all([loadThread(store, threadId), store.inspect(threadId)])
  if (now?.version !== read?.version || (after.head !== head && !run))
    throw new ConflictError('The thread changed while it was being read.')
  const questions = await openQuestions(context, thread, state)
  return { thread, state, questions, answer: found?.record ?? null, seq: head }
}

/**
 * A position in a run's log at which nothing is half-written, with the checkpoint that contains everything
 * before it.
 */
interface Quiet {
  readonly seq: number
  readonly checkpointId: string | null
}

/**
 * The snapshot at the newest such position with a readable checkpoint; the first one is before the run. An
 * unfinished message is sent completely with the events after it. Undefined if the log has lost the start of
 * the run.
 */
async function duringRun(
  context: RunContext,
  thread: ThreadRecord,
  run: RunRecord,
  { head, firstRetained, subgraphs }: { head: number; firstRetained: number; subgraphs: boolean | undefined },
): Promise<ThreadSnapshot | undefined> {
  const { runId, firstSeq, checkpointId, rollbackPoint } = run
  const start = firstSeq === null ? head : firstSeq - 1
  if (firstRetained > start + 1) return undefined
  const before = { seq: start, checkpointId: (checkpointId ?? rollbackPoint?.checkpointId) || null }
  const { quiet, asked } = await readQuiet(context, run, { after: start, head })
  for (const { seq, checkpointId } of [before, ...quiet].reverse()) {
    const state =
      checkpointId === null ? undefined : await readState(context, thread, { checkpointId, subgraphs })
    // A checkpoint is announced before it is saved.
    if (checkpointId !== null && !state) continue
    const questions = unanswered(thread).filter(
      (open) => open.runId !== runId || (asked.get(open.id) ?? head + 1) <= seq,
    )
    const found = await answerOf(context, thread, runId)
    return { thread, state, questions, answer: found?.record ?? null, seq }
  }
  return undefined
}

/** The quiet positions of a run in a part of the log, and the positions of its questions. */
async function readQuiet(
  { store }: RunContext,
  { threadId, runId }: RunRecord,
  { after, head }: { readonly after: number; readonly head: number },
): Promise<{ readonly quiet: readonly Quiet[]; readonly asked: ReadonlyMap<string, number> }> {
  const quiet: Quiet[] = []
  const asked = new Map<string, number>()
  const open = new Set<string>()
  let attempt = ''
  let checkpointId: string | undefined

  function note(event: LoggedEvent): void {
    const { eventId, seq, namespace, superseded } = event
    const token = eventId.slice(0, eventId.indexOf('-'))
    // A lost attempt does not end what it started.
    if (token !== attempt) open.clear()
    attempt = token
    if (event.method === 'messages') {
      const { event: kind, run_id } = event.data
      const key = JSON.stringify([namespace, event.node, run_id])
      if (kind === 'message-start') open.add(key)
      else if (kind === 'message-finish' || kind === 'error') open.delete(key)
    } else if (event.method === 'tools') {
      const { event: kind, tool_call_id } = event.data
      if (kind === 'tool-started') open.add(tool_call_id)
      else if (kind !== 'tool-output-delta') open.delete(tool_call_id)
    } else if (event.method === 'input.requested') asked.set(event.data.interrupt_id, seq)
    else if (event.method === 'checkpoints' && !superseded) checkpointId = event.data.id
    else if (event.method === 'values' && !superseded && checkpointId !== undefined && open.size === 0)
      quiet.push({ seq, checkpointId })
  }

  const isOfInterest: Matcher = ({ method, namespace, runId: of }) =>
    of === runId && (IN_ALL_NAMESPACES.has(method) || (AT_THE_ROOT.has(method) && namespace.length === 0))
  for await (const events of readLogBatches(logReader(store, threadId), isOfInterest, after))
    for (const event of events) if (event.seq <= head) note(event)
  return { quiet, asked }
}

const IN_ALL_NAMESPACES: ReadonlySet<string> = new Set(['messages', 'tools', 'input.requested'])
const AT_THE_ROOT: ReadonlySet<string> = new Set(['checkpoints', 'values'])
