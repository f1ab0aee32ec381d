/** @jsxImportSource preact */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { moveKeys, useKeys } from '../data/keys.ts'
import { useSwitch } from '../data/remembered.ts'
import type { LiveLog } from '../data/use-log.ts'
import { fieldOf } from '../model/json.ts'
import { type LogEntry, matches, namespaceText } from '../model/log.ts'
import { MIDDLEWARE } from '../model/middleware.ts'
import { bytesText, clockText, durationText, shortSegment } from '../model/text.ts'
import { JsonTree } from './json-tree.tsx'
import { MiddlewareToggle } from './middleware-toggle.tsx'
import { Empty, Select, Size } from './parts.tsx'

/** As in the style sheet, in pixels: only the rows in sight are drawn. */
const ROW = 26
const BEYOND = 10

export function LogView({ live }: { readonly live: LiveLog }) {
  const { log, version } = live
  const [channels, setChannels] = useState<ReadonlySet<string>>(new Set())
  const [namespace, setNamespace] = useState('')
  const [paused, setPaused] = useState<readonly LogEntry[]>()
  const [selected, setSelected] = useState<LogEntry>()
  const [isUnfolded, toggleMiddleware] = useSwitch(MIDDLEWARE)
  const all = paused ?? log.entries
  // The log changes in place: its version says when.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const shown = useMemo(
    () => all.filter((entry) => matches({ channels, namespace, hidesMiddleware: !isUnfolded }, entry)),
    [all, version, channels, namespace, isUnfolded],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const known = useMemo(() => namesIn(all), [all, version])
  const toggle = (channel: string) => {
    const next = new Set(channels)
    if (!next.delete(channel)) next.add(channel)
    setChannels(next)
  }
  // Where nothing is selected, the newest one is.
  const selectedAt = selected ? shown.indexOf(selected) : -1
  const at = selectedAt < 0 ? shown.length : selectedAt
  const pause = () => setPaused(paused ? undefined : [...log.entries])
  useKeys([
    ...moveKeys(shown, at, setSelected),
    ['p', pause],
    ...(selected ? [['Escape', () => setSelected(undefined)] as const] : []),
  ])
  return (
    <div class={`log ${selected ? 'has-detail' : ''}`}>
      <div class="bar line wrap small">
        <fieldset class="chips line wrap">
          <legend class="hidden">Channels</legend>
          {known.channels.map(([channel, count]) => (
            <button
              key={channel}
              type="button"
              class="chip small"
              aria-pressed={channels.has(channel)}
              onClick={() => toggle(channel)}
            >
              {channel} <span class="count dim">{count.toLocaleString()}</span>
            </button>
          ))}
        </fieldset>
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
      <Rows entries={shown} selected={selected} onSelect={setSelected} follow={paused === undefined} />
      {selected && <Payload entry={selected} onClose={() => setSelected(undefined)} />}
    </div>
  )
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
]

interface RowsProps {
  readonly entries: readonly LogEntry[]
  readonly selected: LogEntry | undefined
  readonly onSelect: (entry: LogEntry) => void
  readonly follow: boolean
}

function Rows({ entries, selected, onSelect, follow }: RowsProps) {
  const box = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const [view, setView] = useState({ top: 0, height: 600 })
  const look = () => {
    // Scroll and resize events may come after the rows are gone.
    if (!box.current) return
    const { scrollTop, clientHeight, scrollHeight } = box.current
    atEnd.current = scrollHeight - scrollTop - clientHeight < ROW
    setView({ top: scrollTop, height: clientHeight })
  }
  // The newest event stays in sight for who has not scrolled away from it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each change of the entries, and no other
  useLayoutEffect(() => {
    if (follow && atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
    look()
  }, [entries, follow])
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    const observer = new ResizeObserver(look)
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  const selectedAt = selected ? entries.indexOf(selected) : -1
  useEffect(() => {
    if (selectedAt < 0 || !box.current) return
    const { scrollTop, clientHeight } = box.current
    const top = selectedAt * ROW
    if (top < scrollTop) box.current.scrollTop = top
    else if (top + 2 * ROW > scrollTop + clientHeight) box.current.scrollTop = top + 2 * ROW - clientHeight
  }, [selectedAt])
  const from = Math.max(0, Math.floor(view.top / ROW) - BEYOND)
  const to = Math.min(entries.length, Math.ceil((view.top + view.height) / ROW) + BEYOND)
  return (
    <div
      class="rows"
      ref={box}
      onScroll={look}
      role="grid"
      aria-label="Events"
      aria-rowcount={entries.length + 1}
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
}

function Row({ entry, at, isSelected, onSelect }: RowProps) {
  const { seq, at: time, sinceLast, channel, kind, namespace, bytes, latency } = entry
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: j and k select rows
    <div
      class={`row ${isSelected ? 'selected' : ''}`}
      role="row"
      aria-rowindex={at + 2}
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
    </div>
  )
}

function Payload({ entry, onClose }: { readonly entry: LogEntry; readonly onClose: () => void }) {
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
        <dt>size</dt>
        <dd>{entry.bytes.toLocaleString()} bytes</dd>
      </dl>
      <JsonTree value={data ?? event} open={3} />
    </aside>
  )
}
