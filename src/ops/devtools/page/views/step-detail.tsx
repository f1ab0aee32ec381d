/** @jsxImportSource preact */
import { useEffect, useState } from 'preact/hooks'
import type { ThreadDetail } from '../../wire.ts'
import { clock, entriesIn, fetchEvents, type LogRange } from '../data/api.ts'
import { go, routeTo, toApiError } from '../data/hooks.ts'
import { runAgain } from '../data/runs.ts'
import { fieldOf, parseJson } from '../model/json.ts'
import { type Log, type LogEntry, namespaceText, type WireEvent } from '../model/log.ts'
import { MODEL, messagesIn } from '../model/model-calls.ts'
import { type Span, type SpanRow, stepOf } from '../model/spans.ts'
import { bytesText, clockText, durationText } from '../model/text.ts'
import type { Totals } from '../model/usage.ts'
import { JsonTree } from './json-tree.tsx'
import { Action, Empty, Problem, Status } from './parts.tsx'
import { TokenFacts } from './tokens.tsx'

const KINDS: Readonly<Record<Span['kind'], string>> = {
  run: 'run',
  step: '',
  tool: 'tool',
  subagent: 'agent',
  model: 'model',
}

export const KindName = ({ span: { kind, name } }: { readonly span: Span }) => (
  <>
    {name !== MODEL && KINDS[kind] !== '' && <span class="kind">{KINDS[kind]} </span>}
    {name}
  </>
)

interface StepDetailProps {
  readonly thread: ThreadDetail
  readonly log: Log
  readonly run: Span
  readonly row: SpanRow
  readonly totals: Totals
  readonly onClose: () => void
}

/** The input, output, time and tokens of a step. */
export function StepDetail({ thread, log, run, row: { span, ids }, totals, onClose }: StepDetailProps) {
  const { thread_id: threadId } = thread
  const step = stepOf(run, ids)
  const again = async (id: string) => {
    await runAgain(thread, id)
    go('threads', threadId, 'steps')
  }
  const { id, kind, namespace, startedAt, endedAt, status, error } = span
  const now = clock.toServer(Date.now()) ?? Date.now()
  return (
    <aside class="detail" aria-label="Step">
      <header class="line">
        <h2>
          <KindName span={span} />
        </h2>
        <button type="button" class="quiet" onClick={onClose} aria-label="Close the step">
          ✕
        </button>
      </header>
      <p class="links line wrap">
        <a class="button small" href={routeTo('threads', threadId, 'log', 'of', id, run.id)}>
          Log lines
        </a>
        {kind !== 'run' && (
          <a class="button small" href={routeTo('threads', threadId, 'graph', id, run.id)}>
            Show in the graph
          </a>
        )}
        {step && (
          <Action kind="small" run={() => again(step.id)}>
            {kind === 'run' ? 'Run again' : 'Run again from here'}
          </Action>
        )}
      </p>
      {error !== undefined && <Problem>{error}</Problem>}
      <dl>
        <dt>status</dt>
        <dd>
          <Status status={status === 'running' ? 'busy' : status} />
        </dd>
        <dt>began</dt>
        <dd class="number">
          {clockText(startedAt)}
          {kind !== 'run' && `, ${durationText(startedAt - run.startedAt)} after the run`}
        </dd>
        <dt>took</dt>
        <dd class="number">{durationText(Math.max(0, (endedAt ?? now) - startedAt))}</dd>
        <TokenFacts totals={totals} />
        <dt>namespace</dt>
        <dd>{namespaceText(namespace) || 'root'}</dd>
      </dl>
      <Values threadId={threadId} log={log} span={span} />
    </aside>
  )
}

interface ValuesProps extends Pick<StepDetailProps, 'log'> {
  readonly threadId: string
  readonly span: Span
}

function Values({ threadId, log, span }: ValuesProps) {
  const { kind, firstSeq, inputSeq, outputSeq, message, interrupts } = span
  const [given, gave] = LABELS[kind]
  const read = (label: string, from: number, to: number, pick: LoggedValueProps['pick']) => (
    <LoggedValue key={label} label={label} threadId={threadId} log={log} from={from} to={to} pick={pick} />
  )
  if (kind === 'model')
    return message
      ? read(gave, message.seq, message.seq, ([event]) => messageIn(event!, message.id))
      : outputSeq !== undefined && read(gave, firstSeq, outputSeq, (events) => contentIn(events, span))
  return (
    <>
      {inputSeq !== undefined && read(given, inputSeq, inputSeq, ([event]) => inputIn(event!))}
      {outputSeq !== undefined && read(gave, outputSeq, outputSeq, ([event]) => outputIn(event!))}
      {outputSeq !== undefined &&
        interrupts.length > 0 &&
        read('Questions', outputSeq, outputSeq, ([event]) => questionsIn(event!))}
    </>
  )
}

const LABELS: Readonly<Record<Span['kind'], readonly [given: string, gave: string]>> = {
  run: ['State at the start', 'State at the end'],
  step: ['Input', 'Update'],
  subagent: ['Input', 'Output'],
  tool: ['Arguments', 'Result'],
  model: ['Input', 'Message'],
}

function inputIn({ method, params }: WireEvent): unknown {
  if (method === 'tasks') return params.data.input
  if (method !== 'tools' || params.data.event !== 'tool-started') return params.data
  // A model may write text that is not JSON.
  const parsed = parseJson(params.data.input)
  return 'value' in parsed ? parsed.value : params.data.input
}

function outputIn({ method, params }: WireEvent): unknown {
  if (method === 'tasks') return params.data.result
  if (method !== 'tools') return params.data
  const { data } = params
  return data.event === 'tool-finished' ? data.output : data.event === 'tool-error' ? data.message : data
}

const questionsIn = ({ method, params }: WireEvent): unknown =>
  method === 'tasks' ? params.data.interrupts.map(({ value }) => value) : undefined

/** A model's message in the update of its step. */
const messageIn = (event: WireEvent, id: string): unknown =>
  messagesIn(outputIn(event)).find((one) => fieldOf(one, 'id') === id)

/** The blocks of a message that is in no update. */
function contentIn(events: readonly WireEvent[], { id, namespace }: Span): readonly unknown[] {
  return events.flatMap(({ method, params }) => {
    if (method !== 'messages' || params.data.event !== 'content-block-finish') return []
    const isOwn =
      params.data.run_id === id ||
      (params.data.run_id === undefined &&
        namespaceText(namespace).startsWith(namespaceText(params.namespace)))
    return isOwn ? [params.data.content] : []
  })
}

/** Larger values are folded until they are opened. */
const FOLDED_BYTES = 4_096

interface LoggedValueProps extends LogRange {
  readonly label: string
  readonly log: Log
  /** Picks the value to show from the events. */
  readonly pick: (events: readonly WireEvent[]) => unknown
}

/** A value from events of the log. It is read when it is opened. */
function LoggedValue({ label, log, pick, ...range }: LoggedValueProps) {
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

/** A value whose events the page has dropped. */
function Fetched({ range, pick }: Pick<LoggedValueProps, 'pick'> & { readonly range: LogRange }) {
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
