/** @jsxImportSource preact */
import { useEffect, useState } from 'preact/hooks'
import { entriesIn, fetchEvents, type LogRange } from '../data/events.ts'
import { toApiError } from '../data/hooks.ts'
import type { Log, LogEntry, WireEvent } from '../model/log.ts'
import { bytesText } from '../model/text.ts'
import { JsonTree } from './json-tree.tsx'
import { Empty, Problem } from './parts.tsx'

/** Larger values are folded until they are opened. */
const FOLDED_BYTES = 4_096

export interface LoggedValueProps extends LogRange {
  readonly label: string
  readonly log: Log
  /** Picks the value to show from the events. */
  readonly pick: (events: readonly WireEvent[]) => unknown
}

/** A value from events of the log. It is read when it is opened. */
export function LoggedValue({ label, log, pick, ...range }: LoggedValueProps) {
  const [entries] = useState(() => entriesIn(log, range))
  const bytes = entries?.reduce((sum, entry) => sum + entry.bytes, 0)
  const [isOpen, setOpen] = useState(bytes !== undefined && bytes <= FOLDED_BYTES)
  return (
    <details class="logged" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {label} {bytes !== undefined && <span class="number dim">{bytesText(bytes)}</span>}
      </summary>
      {isOpen && entries && <Value events={entries.map(eventOf)} pick={pick} />}
      {isOpen && !entries && <Fetched range={range} pick={pick} />}
    </details>
  )
}

const eventOf = ({ text }: LogEntry): WireEvent => JSON.parse(text)

interface ValueProps extends Pick<LoggedValueProps, 'pick'> {
  readonly events: readonly WireEvent[]
}

const Value = ({ events, pick }: ValueProps) =>
  events.length === 0 ? (
    <Empty>The log no longer has this.</Empty>
  ) : (
    <JsonTree value={pick(events)} open={2} />
  )

interface FetchedProps extends Pick<LoggedValueProps, 'pick'> {
  readonly range: LogRange
}

/** A value whose events the page has dropped. */
function Fetched({ range, pick }: FetchedProps) {
  const { threadId, from, to } = range
  const [read, setRead] = useState<{ readonly events?: readonly WireEvent[]; readonly problem?: string }>({})
  useEffect(() => {
    let isCurrent = true
    fetchEvents({ threadId, from, to }).then(
      (events) => isCurrent && setRead({ events }),
      (error) => isCurrent && setRead({ problem: toApiError(error).message }),
    )
    return () => {
      isCurrent = false
    }
  }, [threadId, from, to])
  if (read.problem !== undefined) return <Problem>{read.problem}</Problem>
  return read.events ? <Value events={read.events} pick={pick} /> : <Empty>Loading…</Empty>
}
