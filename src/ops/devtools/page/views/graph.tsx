/** @jsxImportSource preact */
import type { AgentGraph, GraphAnswer, ThreadDetail } from '../../wire.ts'
import type { ApiError } from '../data/api.ts'
import { routeTo, select, usePolled } from '../data/hooks.ts'
import { useBreakpoints, useSwitch } from '../data/local-settings.ts'
import { useLayout } from '../data/use-camera.ts'
import type { LiveLog } from '../data/use-log.ts'
import { stoppingNodes } from '../model/breakpoints.ts'
import { countMiddleware, joined, nodeWith, statesOf } from '../model/graph.ts'
import { MIDDLEWARE } from '../model/middleware.ts'
import { hasSpan, type Span } from '../model/spans.ts'
import { Breakpoints } from './breakpoints.tsx'
import { GraphCanvas } from './graph-canvas.tsx'
import { Empty, MiddlewareToggle, Problem, runOption, Select } from './parts.tsx'

interface GraphViewProps {
  readonly thread: ThreadDetail
  readonly live: LiveLog
  /** The ids of the step and the run in the address. `-` is none. */
  readonly place: readonly string[]
}

const NONE = '-'
/** A new deployment may change the graph of an agent. */
const POLL_MS = 60_000

/** The graph of the agent, with the progress of a run. */
export function GraphView({ thread, live: { tree }, place }: GraphViewProps) {
  const { thread_id: threadId } = thread
  const [step = NONE, runId] = place
  const run =
    tree.runs.find(({ id }) => id === runId) ??
    tree.runs.findLast((one) => hasSpan(one, step)) ??
    tree.runs.at(-1)
  // A run has the name of its agent.
  const agent = run?.name ?? thread.assistant_id
  const path = agent === null ? undefined : `/agents/${encodeURIComponent(agent)}/graph`
  const { data, error } = usePolled<GraphAnswer>(path, POLL_MS)
  if (agent === null) return <Empty>This thread has no agent yet. Its first run gives it one.</Empty>
  if (!data) return <NotYet error={error} />
  const { graph } = data
  return graph ? (
    <GraphOfAgent
      key={agent}
      agent={agent}
      assistant={thread.assistant_id ?? agent}
      graph={graph}
      threadId={threadId}
      run={run}
      runs={tree.runs}
      step={step}
    />
  ) : (
    <Empty>
      <code>{agent}</code> has no graph: it is a function or an agent on another server. Its tools and
      subagents are under <a href={routeTo('threads', threadId, 'steps')}>Steps</a>.
    </Empty>
  )
}

/** While the server is unreachable, the page says so above and keeps polling. */
const NotYet = ({ error }: { readonly error: ApiError | undefined }) =>
  error && error.status > 0 ? <Problem>{error.message}</Problem> : <Empty>Loading…</Empty>

interface GraphOfAgentProps {
  readonly agent: string
  /** What the thread calls the agent. The breakpoints are kept under it. */
  readonly assistant: string
  readonly graph: AgentGraph
  readonly threadId: string
  readonly run: Span | undefined
  readonly runs: readonly Span[]
  /** The selected step. */
  readonly step: string
}

function GraphOfAgent({ agent, assistant, graph, threadId, run, runs, step }: GraphOfAgentProps) {
  const [stops, toggleStop] = useBreakpoints(assistant)
  const [isUnfolded, toggleMiddleware] = useSwitch(MIDDLEWARE)
  const { data: layout, error } = useLayout(graph, isUnfolded)
  if (!layout) return <NotYet error={error} />
  const states = run ? statesOf(run) : new Map()
  const { nodes, boxes } = layout
  const known = new Set([
    ...nodes.flatMap(({ thing }) => thing.members),
    ...boxes.map(({ thing }) => thing.id),
  ])
  const marked = run && nodeWith(run, step, (node) => known.has(node))
  const running = nodes
    .filter(({ thing }) => joined(states, thing.members)?.status === 'running')
    .map(({ thing }) => thing.label)
  return (
    <div class="graph stack">
      <div class="bar line wrap small">
        {run && (
          <Select
            label="Run"
            value={run.id}
            options={runs.toReversed().map(runOption)}
            onChange={(id) => select('threads', threadId, 'graph', NONE, id)}
          />
        )}
        <MiddlewareToggle
          what="node"
          count={countMiddleware(graph)}
          isOn={isUnfolded}
          onToggle={toggleMiddleware}
        />
        <span class="dim" role="status">
          {run === undefined
            ? 'No run yet'
            : running.length > 0
              ? `Running: ${running.join(', ')}`
              : `This run ${ENDED[run.status]}`}
        </span>
        <Breakpoints nodes={stoppingNodes(graph)} stops={stops} onToggle={toggleStop} />
      </div>
      <GraphCanvas
        agent={agent}
        layout={layout}
        states={states}
        run={run}
        marked={marked}
        stops={stops}
        onToggleStop={toggleStop}
        linkTo={(id) => routeTo('threads', threadId, 'steps', id, ...(run ? [run.id] : []))}
      />
    </div>
  )
}

const ENDED: Readonly<Record<Span['status'], string>> = {
  running: 'is between two steps',
  completed: 'is done',
  failed: 'failed',
  interrupted: 'was interrupted',
}
