/** @jsxImportSource preact */
import { useMemo, useState } from 'preact/hooks'
import { arrowKeys, type KeyAction, moveKeys, routeTo, select, useKeys } from '../data/hooks.ts'
import { useSwitch } from '../data/local-settings.ts'
import type { LiveLog } from '../data/use-log.ts'
import { fieldOf } from '../model/json.ts'
import { type LogEntry, matches, namespaceText } from '../model/log.ts'
import { MIDDLEWARE } from '../model/middleware.ts'
import { createPlaces, type SpanPlace } from '../model/places.ts'
import { rowsOf, rowWith, withInner } from '../model/spans.ts'
import { bytesText, clockText, durationText, shortSegment } from '../model/text.ts'
import { JsonTree } from './json-tree.tsx'
import { Empty, MiddlewareToggle, Select, Size } from './parts.tsx'
import { ROW, SELECTED_ROW, useWindow } from './row-window.ts'

interface LogViewProps {
  readonly threadId: string
  readonly live: LiveLog
  /** The selection in the address: an event, or `of` with a step, its run and an event. */
  readonly place: readonly string[]
}

export function LogView({ threadId, live, place }: LogViewProps) {
  const { log, tree, version } = live
  const [stepId, runId, named] = place[0] === OF ? place.slice(1) : [undefined, undefined, place[0]]
  const [channels, setChannels] = useState<ReadonlySet<string>>(new Set())
  const [namespace, setNamespace] = useState('')
  const [paused, setPaused] = useState<readonly LogEntry[]>()
  const [isUnfolded, toggleMiddleware] = useSwitch(MIDDLEWARE)
  const all = paused ?? log.entries
  // biome-ignore lint/correctness/useExhaustiveDependencies: see below
  const places = useMemo(() => createPlaces(tree.runs), [tree, version])
  const step = useStep(live, stepId, runId)
  // The log changes in place: its version says when.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const shown = useMemo(() => {
    const seq = Number(named)
    const filter = { channels, namespace, hidesMiddleware: !isUnfolded && !step }
    const isOfStep = (entry: LogEntry) => {
      const found = places.of(entry)
      return found?.run.id === runId && step!.ids.has(found?.span.id ?? '')
    }
    return all.filter((entry) => entry.seq === seq || (matches(filter, entry) && (!step || isOfStep(entry))))
  }, [all, version, channels, namespace, isUnfolded, step, runId, named])
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const known = useMemo(() => namesIn(all), [all, version])
  const selected = named === undefined ? undefined : shown.find(({ seq }) => seq === Number(named))
  const go = (entry?: LogEntry, of: readonly string[] = stepId ? [OF, stepId, runId ?? ''] : []) =>
    select('threads', threadId, 'log', ...of, ...(entry ? [`${entry.seq}`] : []))
  // Without a selection, the newest event is selected.
  const selectedAt = selected ? shown.indexOf(selected) : -1
  const at = selectedAt < 0 ? shown.length : selectedAt
  const pause = () => setPaused(paused ? undefined : [...log.entries])
  const keys = moveKeys(shown, at, go)
  useKeys([...keys, ['p', pause], ...(selected ? [['Escape', () => go()] as const] : [])])
  return (
    <div class={`log ${selected ? 'has-detail' : ''}`}>
      <div class="bar line wrap small">
        {stepId !== undefined && (
          <button type="button" class="chip small" aria-pressed onClick={() => go(selected, [])}>
            Of {step ? step.name : 'a step that is not on this page'} ✕
            <span class="hidden">show all events</span>
          </button>
        )}
        <Channels known={known.channels} chosen={channels} onChoose={setChannels} />
        <Select
          label="Namespace"
          value={namespace}
          options={[['', 'all namespaces'], ...known.namespaces]}
          onChange={setNamespace}
        />
        <MiddlewareToggle
          what="event"
          count={known.middleware}
          isOn={isUnfolded}
          onToggle={toggleMiddleware}
        />
        <button type="button" aria-pressed={paused !== undefined} onClick={pause}>
          {paused ? `Go on (${log.last - (paused.at(-1)?.seq ?? 0)} new)` : 'Pause'}
        </button>
        <span class="dim" role="status">
          {shown.length.toLocaleString()} shown · {bytesText(log.bytes)}
          {log.dropped > 0 && ` · ${log.dropped.toLocaleString()} older ones dropped from this page`}
        </span>
      </div>
      <Rows
        entries={shown}
        keys={keys}
        selected={selected}
        onSelect={go}
        follow={paused === undefined}
        stepOf={(entry) => linkOf(threadId, places.of(entry))}
      />
      {selected && (
        <Payload entry={selected} step={linkOf(threadId, places.of(selected))} onClose={() => go()} />
      )}
    </div>
  )
}

interface ChannelsProps {
  readonly known: readonly (readonly [channel: string, count: number])[]
  readonly chosen: ReadonlySet<string>
  readonly onChoose: (channels: ReadonlySet<string>) => void
}

function Channels({ known, chosen, onChoose }: ChannelsProps) {
  const toggle = (channel: string) => {
    const next = new Set(chosen)
    if (!next.delete(channel)) next.add(channel)
    onChoose(next)
  }
  return (
    <fieldset class="chips line wrap">
      <legend class="hidden">Channels</legend>
      {known.map(([channel, count]) => (
        <button
          key={channel}
          type="button"
          class="chip small"
          aria-pressed={chosen.has(channel)}
          onClick={() => toggle(channel)}
        >
          {channel} <span class="count dim">{count.toLocaleString()}</span>
        </button>
      ))}
    </fieldset>
  )
}

/** The parts of the address before the step whose events are shown. */
const OF = 'of'

/** The ids of a step and its descendants, and its name. */
function useStep({ tree, version }: LiveLog, id: string | undefined, runId: string | undefined) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tree changes in place, and its version says when
  return useMemo(() => {
    const run = tree.runs.find((one) => one.id === runId)
    const row = id === undefined ? undefined : run && rowWith(rowsOf(run), id)
    return (
      row && { name: row.span.name, ids: new Set([...row.ids, ...withInner(row.span).map((one) => one.id)]) }
    )
  }, [tree, version, id, runId])
}

interface StepLink {
  readonly name: string
  readonly href: string
}

const linkOf = (threadId: string, place: SpanPlace | undefined): StepLink | undefined =>
  place && {
    name: place.span.name,
    href: routeTo('threads', threadId, 'steps', place.span.id, place.run.id),
  }

function namesIn(entries: readonly LogEntry[]) {
  const channels = new Map<string, number>()
  const namespaces = new Map<string, string>()
  let middleware = 0
  for (const { channel, namespace, isMiddleware } of entries) {
    if (isMiddleware) middleware += 1
    channels.set(channel, (channels.get(channel) ?? 0) + 1)
    if (namespace.length > 0)
      namespaces.set(namespaceText(namespace), namespaceText(namespace.map(shortSegment)))
  }
  const byName = ([a]: readonly [string, ...unknown[]], [b]: readonly [string, ...unknown[]]) =>
    a < b ? -1 : 1
  return { channels: [...channels].sort(byName), namespaces: [...namespaces].sort(byName), middleware }
}

const COLUMNS: readonly (readonly [name: string, title?: string])[] = [
  ['seq'],
  ['time'],
  ['Δ', 'Since the event before'],
  ['channel'],
  ['namespace'],
  ['size', 'Of the frame, as it is stored and sent'],
  ['latency', 'From the server to this page'],
  ['step'],
]

interface RowsProps {
  readonly entries: readonly LogEntry[]
  readonly keys: readonly KeyAction[]
  readonly selected: LogEntry | undefined
  readonly onSelect: (entry: LogEntry) => void
  readonly follow: boolean
  readonly stepOf: (entry: LogEntry) => StepLink | undefined
}

function Rows({ entries, keys, selected, onSelect, follow, stepOf }: RowsProps) {
  const selectedAt = selected ? entries.indexOf(selected) : -1
  const { box, look, from, to } = useWindow({ rows: entries, selectedAt, follow })
  return (
    <div
      class="rows"
      ref={box}
      onScroll={look}
      role="grid"
      aria-label="Events"
      aria-rowcount={entries.length + 1}
      aria-activedescendant={selectedAt < 0 ? undefined : SELECTED_ROW}
      onKeyDown={arrowKeys(keys)}
      tabIndex={0}
    >
      <div class="row head dim" role="row" aria-rowindex={1}>
        {COLUMNS.map(([name, title]) => (
          <span key={name} role="columnheader" title={title}>
            {name}
          </span>
        ))}
      </div>
      {entries.length === 0 && <Empty>No events yet. They appear here as they come.</Empty>}
      <div role="rowgroup" style={{ height: `${entries.length * ROW}px`, position: 'relative' }}>
        {entries.slice(from, to).map((entry, index) => (
          <Row
            key={`${entry.seq}${entry.method}`}
            entry={entry}
            at={from + index}
            isSelected={entry === selected}
            onSelect={onSelect}
            step={stepOf(entry)}
          />
        ))}
      </div>
    </div>
  )
}

interface RowProps {
  readonly entry: LogEntry
  readonly at: number
  readonly isSelected: boolean
  readonly onSelect: (entry: LogEntry) => void
  readonly step: StepLink | undefined
}

function Row({ entry, at, isSelected, onSelect, step }: RowProps) {
  const { seq, at: time, sinceLast, channel, kind, namespace, bytes, latency } = entry
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: j and k select rows
    <div
      class={`row ${isSelected ? 'selected' : ''}`}
      role="row"
      aria-rowindex={at + 2}
      id={isSelected ? SELECTED_ROW : undefined}
      aria-selected={isSelected}
      tabIndex={-1}
      style={{ top: `${at * ROW}px` }}
      onClick={() => onSelect(entry)}
    >
      <span role="gridcell" class="number">
        {seq}
      </span>
      <span role="gridcell" class="number">
        {time > 0 ? clockText(time) : ''}
      </span>
      <span role="gridcell" class="number dim">
        {sinceLast === undefined ? '' : `+${durationText(sinceLast)}`}
      </span>
      <span role="gridcell" class="what">
        <span class={`channel of-${channel.split(':')[0]}`}>{channel}</span> <span class="dim">{kind}</span>
      </span>
      <span role="gridcell" class="namespace dim" title={namespaceText(namespace)}>
        {namespace.map(shortSegment).join(' › ')}
      </span>
      <span role="gridcell">
        <Size bytes={bytes} />
      </span>
      <span role="gridcell" class="number dim">
        {latency === undefined ? '–' : durationText(latency)}
      </span>
      <span role="gridcell">
        {step && (
          <a
            href={step.href}
            title={`Open the step ${step.name}`}
            onClick={(event) => event.stopPropagation()}
          >
            {step.name}
          </a>
        )}
      </span>
    </div>
  )
}

interface PayloadProps {
  readonly entry: LogEntry
  readonly step: StepLink | undefined
  readonly onClose: () => void
}

function Payload({ entry, step, onClose }: PayloadProps) {
  const event = useMemo(() => JSON.parse(entry.text) as unknown, [entry])
  const data = fieldOf(fieldOf(event, 'params'), 'data')
  return (
    <aside class="detail" aria-label="Event">
      <header class="line wrap">
        <h2>
          {entry.channel} <span class="number">{entry.seq}</span>
        </h2>
        <button type="button" class="quiet" onClick={onClose} aria-label="Close the event">
          ✕
        </button>
      </header>
      <dl>
        <dt>id</dt>
        <dd>{String(fieldOf(event, 'event_id') ?? '–')}</dd>
        <dt>namespace</dt>
        <dd>{namespaceText(entry.namespace) || 'root'}</dd>
        {step && (
          <>
            <dt>step</dt>
            <dd>
              <a href={step.href}>{step.name}</a>
            </dd>
          </>
        )}
        <dt>size</dt>
        <dd>{entry.bytes.toLocaleString()} bytes</dd>
      </dl>
      <JsonTree value={data ?? event} open={3} />
    </aside>
  )
}
