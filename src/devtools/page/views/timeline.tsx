/** @jsxImportSource preact */
import { useMemo, useState } from 'preact/hooks'
import { clock } from '../data/api.ts'
import { routeTo, select, useNow } from '../data/hooks.ts'
import { moveKeys, useKeys } from '../data/keys.ts'
import { useSwitch } from '../data/remembered.ts'
import type { LiveLog } from '../data/use-log.ts'
import { foldMiddleware } from '../model/fold-middleware.ts'
import { namespaceText } from '../model/log.ts'
import { MIDDLEWARE } from '../model/middleware.ts'
import { hasSpan, rowsOf, rowWith, type Span, type SpanRow } from '../model/spans.ts'
import { clockText, durationText } from '../model/text.ts'
import { MiddlewareToggle } from './middleware-toggle.tsx'
import { Empty, Select, Status } from './parts.tsx'
import { runOption } from './run-option.ts'

interface TimelineViewProps {
  readonly threadId: string
  readonly live: LiveLog
  /** The id of the step that the address names. */
  readonly selected: string | undefined
}

/** The subagents and steps of a run, each as long as it took. */
export function TimelineView({ threadId, live: { tree, version }, selected }: TimelineViewProps) {
  const [chosen, setChosen] = useState<string>()
  const [isUnfolded, toggleMiddleware] = useSwitch(MIDDLEWARE)
  const named = selected === undefined ? undefined : tree.runs.find((one) => hasSpan(one, selected))
  const run = named ?? tree.runs.find(({ id }) => id === chosen) ?? tree.runs.at(-1)
  // The tree changes in place: its version says when.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const { rows, middleware } = useMemo(() => {
    if (!run) return { rows: [], middleware: 0 }
    const { span, count } = foldMiddleware(run, selected)
    return { rows: rowsOf(isUnfolded ? run : span), middleware: count }
  }, [run, version, isUnfolded, selected])
  const pageTime = useNow(run?.endedAt === undefined)
  const row = selected === undefined ? undefined : rowWith(rows, selected)
  const at = row ? rows.indexOf(row) : -1
  const go = (id?: string) => select('threads', threadId, 'steps', ...(id === undefined ? [] : [id]))
  const choose = (id: string | undefined) => {
    setChosen(id === tree.runs.at(-1)?.id ? undefined : id)
    go()
  }
  useKeys([
    ...moveKeys(rows, at, ({ span }) => go(span.id)),
    ...(row ? [['Escape', () => choose(run?.id)] as const] : []),
  ])
  if (!run) return <Empty>No run is in the events of this page.</Empty>
  const now = Math.max(run.startedAt + 1, clock.toServer(pageTime) ?? pageTime)
  const end = Math.max(run.startedAt + 1, run.endedAt ?? now)
  return (
    <div class="timeline stack">
      <div class="bar line wrap small">
        <Select
          label="Run"
          value={run.id}
          options={tree.runs.toReversed().map(runOption)}
          onChange={choose}
        />
        <span class="dim">
          {durationText(end - run.startedAt)}
          {run.firstTokenAt !== undefined &&
            ` · first token after ${durationText(run.firstTokenAt - run.startedAt)}`}
          {` · ${rows.length - 1} steps`}
        </span>
        <MiddlewareToggle what="step" count={middleware} isOn={isUnfolded} onToggle={toggleMiddleware} />
      </div>
      <div class="spans" role="tree" aria-label="Subagents and steps" tabIndex={0}>
        {rows.map((one) => (
          <SpanLine
            key={one.span.id}
            threadId={threadId}
            row={one}
            from={run.startedAt}
            to={end}
            isSelected={one === row}
            onSelect={() => (one === row ? choose(run.id) : go(one.span.id))}
          />
        ))}
      </div>
    </div>
  )
}

interface SpanLineProps {
  readonly threadId: string
  readonly row: SpanRow
  readonly from: number
  readonly to: number
  readonly isSelected: boolean
  readonly onSelect: () => void
}

function SpanLine({ threadId, row: { span, depth }, from, to, isSelected, onSelect }: SpanLineProps) {
  const whole = to - from
  const left = ((span.startedAt - from) / whole) * 100
  const width = Math.max(0.3, (((span.endedAt ?? to) - span.startedAt) / whole) * 100)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: j and k select spans
    <div
      class={`span ${span.kind} ${isSelected ? 'selected' : ''}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isSelected}
      tabIndex={-1}
      onClick={onSelect}
    >
      <span class="name cut" style={{ paddingLeft: `${depth * 14}px` }}>
        <span class="kind">{{ run: 'run', step: '', tool: 'tool', subagent: 'agent' }[span.kind]}</span>{' '}
        {span.name}
      </span>
      <span class="track">
        <span
          class={`bar-of ${span.status}`}
          style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }}
        />
      </span>
      <span class="number dim">{durationText((span.endedAt ?? to) - span.startedAt)}</span>
      {isSelected && <SpanFacts threadId={threadId} span={span} from={from} />}
    </div>
  )
}

interface SpanFactsProps {
  readonly threadId: string
  readonly span: Span
  readonly from: number
}

const SpanFacts = ({ threadId, span, from }: SpanFactsProps) => (
  <span class="span-facts small dim">
    <Status status={span.status === 'running' ? 'busy' : span.status} /> began{' '}
    {durationText(span.startedAt - from)} after the run, at {clockText(span.startedAt)} ·{' '}
    <code>{namespaceText(span.namespace) || 'root'}</code> ·{' '}
    <a href={routeTo('threads', threadId, 'graph', span.id)}>Show in the graph</a>
  </span>
)
