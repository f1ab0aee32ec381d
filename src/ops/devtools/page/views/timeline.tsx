/** @jsxImportSource preact */
import { useMemo } from 'preact/hooks'
import type { Prices, ServerInfo, ThreadDetail } from '../../wire.ts'
import { clock } from '../data/api.ts'
import {
  arrowKeys,
  type KeyAction,
  moveKeys,
  routeTo,
  select,
  useKeys,
  useNow,
  usePolled,
} from '../data/hooks.ts'
import { useSwitch } from '../data/local-settings.ts'
import type { LiveLog } from '../data/use-log.ts'
import { countsIn, foldMiddleware, totalsIn } from '../model/fold-middleware.ts'
import { MIDDLEWARE } from '../model/middleware.ts'
import { hasSpan, rowsOf, type Span, type SpanRow } from '../model/spans.ts'
import { durationText } from '../model/text.ts'
import type { Totals } from '../model/usage.ts'
import { Empty, MiddlewareToggle, runOption, Select } from './parts.tsx'
import { ROW, SELECTED_ROW, useWindow } from './row-window.ts'
import { KindName, StepDetail } from './step-detail.tsx'
import { costOf, tokensText, totalsText } from './tokens.tsx'

interface TimelineViewProps {
  readonly thread: ThreadDetail
  readonly live: LiveLog
  /** The ids of the step and the run in the address. `-` is none. */
  readonly place: readonly string[]
}

/** The prices seldom change. */
const POLL_MS = 60_000
const NO_PRICES: Prices = {}
const NONE = '-'

/** The steps and calls of a run, with bars for their durations. */
export function TimelineView({ thread, live, place }: TimelineViewProps) {
  const { thread_id: threadId } = thread
  const { tree, version, log } = live
  const [named = NONE, runId] = place
  const selected = named === NONE ? undefined : named
  const [isUnfolded, toggleMiddleware] = useSwitch(MIDDLEWARE)
  const { data: server } = usePolled<ServerInfo>('/server', POLL_MS)
  const prices = server?.prices ?? NO_PRICES
  const run =
    tree.runs.find(({ id }) => id === runId) ??
    tree.runs.findLast((one) => selected !== undefined && hasSpan(one, selected)) ??
    tree.runs.at(-1)
  const { rows, middleware } = useRows(run, version, { isUnfolded, selected, prices })
  const pageTime = useNow(run?.endedAt === undefined)
  const at = selected === undefined ? -1 : rows.findIndex(({ ids }) => ids.includes(selected))
  const row = rows[at]
  const go = (id = NONE, of = run?.id) =>
    select('threads', threadId, 'steps', ...(id === NONE && of === tree.runs.at(-1)?.id ? [] : [id, of!]))
  const keys = moveKeys(rows, at, ({ span }) => go(span.id))
  useKeys([...keys, ...(row ? [['Escape', () => go()] as const] : [])])
  if (!run) return <Empty>No run is in the events of this page.</Empty>
  const now = Math.max(run.startedAt + 1, clock.toServer(pageTime) ?? pageTime)
  const end = Math.max(run.startedAt + 1, run.endedAt ?? now)
  const totals = totalsIn(run, prices)
  const other = tree.runs[Math.max(0, tree.runs.indexOf(run) - 1)]!
  return (
    <div class={`timeline ${row ? 'has-detail' : ''}`}>
      <div class="bar line wrap small">
        <Select
          label="Run"
          value={run.id}
          options={tree.runs.toReversed().map(runOption)}
          onChange={(id) => go(NONE, id)}
        />
        <span class="dim">{durationText(end - run.startedAt)}</span>
        {run.firstTokenAt !== undefined && (
          <span class="dim">first token after {durationText(run.firstTokenAt - run.startedAt)}</span>
        )}
        <span class="dim">{countsText(run)}</span>
        {totals.calls > 0 && <span class="totals">{totalsText(totals)}</span>}
        <MiddlewareToggle what="step" count={middleware} isOn={isUnfolded} onToggle={toggleMiddleware} />
        <a class="button" href={routeTo('compare', threadId, other.id, threadId, run.id)}>
          Compare
        </a>
      </div>
      <SpanRows
        key={run.id}
        rows={rows}
        selectedAt={at}
        from={run.startedAt}
        to={end}
        columns={`${totals.calls > 0 ? 'has-tokens' : ''} ${totals.priced > 0 ? 'has-cost' : ''}`}
        keys={keys}
        onSelect={(one) => go(one === row ? NONE : one.span.id)}
      />
      {row && (
        <StepDetail
          key={row.span.id}
          thread={thread}
          log={log}
          run={run}
          row={row}
          totals={row.totals}
          onClose={() => go()}
        />
      )}
    </div>
  )
}

interface RowOptions {
  readonly isUnfolded: boolean
  readonly selected: string | undefined
  readonly prices: Prices
}

/** The rows of a run, and how many of its steps are of middleware. */
function useRows(run: Span | undefined, version: number, { isUnfolded, selected, prices }: RowOptions) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tree changes in place, and its version says when
  return useMemo(() => {
    if (!run) return { rows: [], middleware: 0 }
    const { span, count } = foldMiddleware(run, selected)
    const shown = rowsOf(isUnfolded ? run : span)
    return { rows: shown.map((row) => ({ ...row, totals: totalsIn(row.span, prices) })), middleware: count }
  }, [run, version, isUnfolded, selected, prices])
}

function countsText(run: Span): string {
  const { step, tool, subagent, model } = countsIn(run)
  return [several(step + subagent, 'step'), several(model, 'model call'), several(tool, 'tool call')]
    .filter((text) => text !== '')
    .join(' · ')
}

const several = (count: number, what: string): string =>
  count === 0 ? '' : `${count.toLocaleString()} ${what}${count === 1 ? '' : 's'}`

interface ShownRow extends SpanRow {
  readonly totals: Totals
}

interface SpanRowsProps {
  readonly rows: readonly ShownRow[]
  readonly selectedAt: number
  readonly from: number
  readonly to: number
  /** The classes that show the columns with content. */
  readonly columns: string
  readonly keys: readonly KeyAction[]
  readonly onSelect: (row: ShownRow) => void
}

function SpanRows({ rows, selectedAt, from, to, columns, keys, onSelect }: SpanRowsProps) {
  const shown = useWindow({ rows, selectedAt, follow: false })
  return (
    <div
      class={`spans ${columns}`}
      ref={shown.box}
      onScroll={shown.look}
      onKeyDown={arrowKeys(keys)}
      role="tree"
      aria-label="Steps"
      aria-activedescendant={selectedAt < 0 ? undefined : SELECTED_ROW}
      tabIndex={0}
    >
      <div class="span head small dim" aria-hidden="true">
        <span>step</span>
        <span>time</span>
        <span class="number tokens">tokens in → out</span>
        <span class="number cost">cost</span>
        <span class="number">took</span>
      </div>
      <div class="all" style={{ height: `${rows.length * ROW}px` }}>
        {rows.slice(shown.from, shown.to).map((row, index) => (
          <SpanLine
            key={row.span.id}
            row={row}
            at={shown.from + index}
            from={from}
            to={to}
            isSelected={shown.from + index === selectedAt}
            onSelect={() => onSelect(row)}
          />
        ))}
      </div>
    </div>
  )
}

interface SpanLineProps {
  readonly row: ShownRow
  readonly at: number
  readonly from: number
  readonly to: number
  readonly isSelected: boolean
  readonly onSelect: () => void
}

function SpanLine({ row, at, from, to, isSelected, onSelect }: SpanLineProps) {
  const { span, depth, totals } = row
  const whole = to - from
  const left = ((span.startedAt - from) / whole) * 100
  const width = Math.max(0.3, (((span.endedAt ?? to) - span.startedAt) / whole) * 100)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: j and k select spans
    <div
      class={`span ${span.kind} ${isSelected ? 'selected' : ''}`}
      role="treeitem"
      id={isSelected ? SELECTED_ROW : undefined}
      aria-level={depth + 1}
      aria-selected={isSelected}
      tabIndex={-1}
      style={{ top: `${at * ROW}px` }}
      onClick={onSelect}
    >
      <span class="name cut" style={{ paddingLeft: `${depth * 14}px` }} title={span.name}>
        <KindName span={span} />
      </span>
      <span class="track">
        <span
          class={`bar-of ${span.status}`}
          style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }}
        />
      </span>
      <span class="number dim tokens cut">{tokensText(totals)}</span>
      <span class="number dim cost cut">{costOf(totals)}</span>
      <span class="number dim">{durationText(Math.max(0, (span.endedAt ?? to) - span.startedAt))}</span>
    </div>
  )
}
