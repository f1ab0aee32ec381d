/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CheckpointRow, RunRow, ThreadDetail } from '../../wire.ts'
import { ask, threadPath } from '../data/api.ts'
import { go, routeTo, useAsked, useKeys, usePolled } from '../data/hooks.ts'
import { startRun } from '../data/runs.ts'
import { useLog, useStart } from '../data/use-log.ts'
import type { WireEvent } from '../model/log.ts'
import { clockText, durationText } from '../model/text.ts'
import { ConversationView } from './conversation.tsx'
import { GraphView } from './graph.tsx'
import { InterruptsView } from './interrupts.tsx'
import { JsonTree } from './json-tree.tsx'
import { LogView } from './log.tsx'
import { Action, BackLink, Empty, Id, Problem, RunProblem, Status, Table } from './parts.tsx'
import { StateView } from './state.tsx'
import { TimelineView } from './timeline.tsx'

const TABS = [
  ['conversation', 'Conversation'],
  ['log', 'Log'],
  ['steps', 'Steps'],
  ['graph', 'Graph'],
  ['state', 'State'],
  ['interrupts', 'Interrupts'],
  ['runs', 'Runs'],
] as const

/** What changes the record of a thread. */
const REFRESH_ON = new Set(['lifecycle', 'input.requested'])
/** The record is asked for again when such an event has come, and otherwise this often. */
const POLL_MS = 5_000
const SETTLE_MS = 150

interface ThreadViewProps {
  readonly threadId: string
  readonly tab: string
  /** The selection in the view, such as a step and its run. */
  readonly place: readonly string[]
}

export function ThreadView({ threadId, tab, place }: ThreadViewProps) {
  const { data: thread, error, refresh } = usePolled<ThreadDetail>(threadPath(threadId), POLL_MS)
  const [checkpoints, setCheckpoints] = useState(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const onEvent = ({ method, params }: WireEvent) => {
    const isCheckpoint = method === 'checkpoints'
    if (
      !isCheckpoint &&
      !(REFRESH_ON.has(method) && (method !== 'lifecycle' || params.namespace.length === 0))
    )
      return
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      refresh()
      setCheckpoints((count) => count + 1)
    }, SETTLE_MS)
  }
  const live = useLog(threadId, useStart(thread), onEvent)
  useKeys(TABS.map(([name], index) => [`${index + 1}`, () => go('threads', threadId, name)]))
  if (error && error.status > 0 && error.status < 500) return <Problem>{error.message}</Problem>
  if (!thread) return <Empty>Loading…</Empty>
  return (
    <article class="thread stack" aria-label="Thread">
      <header class="line wrap">
        <BackLink />
        <h1>{thread.title ?? thread.thread_id}</h1>
        <Status status={thread.status} />
        <p class="facts line wrap small dim">
          <Id id={thread.thread_id} />
          <span>{thread.assistant_id ?? 'no agent yet'}</span>
          <span>{live.log.last.toLocaleString()} events</span>
          {thread.lease && (
            <span>held by {thread.lease.is_here ? 'this process' : thread.lease.holder.slice(-8)}</span>
          )}
          {thread.queued > 0 && <span>{thread.queued} waiting</span>}
        </p>
        {thread.error && tab !== 'conversation' && <RunProblem message={thread.error} />}
        {isStopped(thread) && <Stopped thread={thread} onDone={refresh} />}
      </header>
      <Tabs threadId={threadId} tab={tab} waiting={thread.open_interrupts.length} />
      <div class="view stack" id="view" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {live.error && <Problem>{live.error.message}</Problem>}
        {tab === 'conversation' && <ConversationView thread={thread} live={live} onDone={refresh} />}
        {tab === 'log' && <LogView threadId={threadId} live={live} place={place} />}
        {tab === 'steps' && <TimelineView thread={thread} live={live} place={place} />}
        {tab === 'graph' && <GraphView thread={thread} live={live} place={place} />}
        {tab === 'state' && <StateView thread={thread} live={live} changes={checkpoints} />}
        {tab === 'interrupts' && <InterruptsView thread={thread} onDone={refresh} />}
        {tab === 'runs' && <RunsView thread={thread} onDone={refresh} />}
      </div>
    </article>
  )
}

interface TabsProps {
  readonly threadId: string
  readonly tab: string
  /** The questions that wait for an answer. */
  readonly waiting: number
}

const Tabs = ({ threadId, tab, waiting }: TabsProps) => (
  <div class="tabs" role="tablist" aria-label="Views">
    {TABS.map(([name, label]) => (
      <a
        key={name}
        id={`tab-${name}`}
        role="tab"
        aria-selected={name === tab}
        aria-controls="view"
        href={routeTo('threads', threadId, name)}
      >
        {label}
        {name === 'interrupts' && waiting > 0 && <span class="badge warn">{waiting}</span>}
      </a>
    ))}
  </div>
)

/** Whether the thread waits to be continued, and asks nothing. */
const isStopped = ({ status, open_interrupts, active_run_id, queued }: ThreadDetail): boolean =>
  status === 'interrupted' && open_interrupts.length === 0 && active_run_id === null && queued === 0

/** A run that stopped at a breakpoint, and a button to continue it. */
function Stopped({ thread, onDone }: { readonly thread: ThreadDetail; readonly onDone: () => void }) {
  const path = `${threadPath(thread.thread_id)}/checkpoints?limit=1`
  const { data } = useAsked<readonly CheckpointRow[]>(path, thread.log.head)
  const next = data?.[0]?.next ?? []
  const resume = async () => {
    await startRun(thread, { input: null })
    onDone()
  }
  return (
    <p class="stopped line wrap">
      <span role="status">Stopped at a breakpoint{next.length > 0 && `, before ${next.join(', ')}`}</span>
      <Action kind="primary" run={resume}>
        Continue
      </Action>
    </p>
  )
}

/** The runs of a thread whose records the store still has. */
function RunsView({ thread, onDone }: { readonly thread: ThreadDetail; readonly onDone: () => void }) {
  const { runs, metadata } = thread
  const cancel = (run: RunRow) => async () => {
    await ask(`${threadPath(thread.thread_id)}/runs/${run.run_id}/cancel`, {})
    onDone()
  }
  return (
    <div class="runs">
      {runs.length === 0 ? (
        <Empty>No records of runs: they are kept for a day after a run has ended.</Empty>
      ) : (
        <Table
          rows={runs}
          keyOf={(run) => run.run_id}
          columns={[
            ['Run', (run) => <Id id={run.run_id} />],
            ['Status', (run) => <RunStatus run={run} />],
            ['Asked for', (run) => clockText(run.created_at), 'number'],
            ['Waited', waitedText, 'number'],
            ['First event', (run) => run.first_seq ?? '–', 'number'],
            ['Attempts', (run) => run.attempts, 'number'],
            ['Started as', startOf],
            ['Action', (run) => isOpen(run) && <Stop run={cancel(run)} />],
          ]}
        />
      )}
      <h2>Metadata</h2>
      <JsonTree value={metadata} />
    </div>
  )
}

const isOpen = ({ status }: RunRow): boolean => status === 'running' || status === 'pending'

const RunStatus = ({ run: { status, error } }: { readonly run: RunRow }) => (
  <>
    <Status status={status === 'running' ? 'busy' : status} />
    {error && <div class="error-text">{error}</div>}
  </>
)

const waitedText = ({ started_at, created_at }: RunRow): string =>
  started_at === null ? 'waits' : durationText(Math.max(0, started_at - created_at))

const startOf = ({ checkpoint_id: id, multitask_strategy: strategy }: RunRow) =>
  id === null ? (
    strategy
  ) : (
    <span>
      fork of <Id id={id} />
    </span>
  )

const Stop = ({ run }: { readonly run: () => Promise<void> }) => (
  <Action kind="danger" run={run}>
    Stop
  </Action>
)
