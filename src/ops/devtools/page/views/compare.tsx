/** @jsxImportSource preact */
import { useMemo } from 'preact/hooks'
import type { Prices, ServerInfo, ThreadDetail, ThreadsPage } from '../../wire.ts'
import { threadPath } from '../data/api.ts'
import { routeTo, select, usePolled } from '../data/hooks.ts'
import { type LiveLog, useLog, useStart } from '../data/use-log.ts'
import { diff } from '../model/diff.ts'
import { runValues, withoutIds } from '../model/run-values.ts'
import type { Span } from '../model/spans.ts'
import { shortId } from '../model/text.ts'
import { ComparedSteps, ComparedTotals } from './compared-steps.tsx'
import { Changes, JsonTree } from './json-tree.tsx'
import { BackLink, Empty, Problem, runOption, Select } from './parts.tsx'

const POLL_MS = 10_000
const SLOW_POLL_MS = 60_000

/** A thread and one of its runs, from the address. */
interface Chosen {
  readonly threadId: string | undefined
  readonly runId: string | undefined
}

/** Two runs side by side: their inputs, steps and outputs. */
export function CompareView({ place }: { readonly place: readonly string[] }) {
  const [threadA, runA, threadB, runB] = place
  const { data: server } = usePolled<ServerInfo>('/server', SLOW_POLL_MS)
  const { data: threads } = usePolled<ThreadsPage>('/threads?limit=200', POLL_MS)
  const a = useSide({ threadId: threadA, runId: runA })
  const b = useSide({ threadId: threadB ?? threadA, runId: runB })
  const show = (one: Chosen, other: Chosen) =>
    select('compare', one.threadId ?? '', one.runId ?? '-', other.threadId ?? '', other.runId ?? '-')
  const prices = server?.prices ?? {}
  return (
    <article class="compare stack" aria-label="Compare runs">
      <header class="line wrap">
        <BackLink />
        <h1>Compare runs</h1>
      </header>
      <div class="compared">
        <div class="sides">
          <SidePicker label="A" side={a} threads={threads} onChange={(one) => show(one, b)} />
          <SidePicker label="B" side={b} threads={threads} onChange={(other) => show(a, other)} />
        </div>
        {a.run && b.run ? (
          <Comparison a={a} b={b} prices={prices} />
        ) : (
          <Empty>Choose two runs that are in the logs of their threads.</Empty>
        )}
      </div>
    </article>
  )
}

interface Side extends Chosen {
  readonly thread: ThreadDetail | undefined
  readonly problem: string | undefined
  readonly live: LiveLog
  readonly run: Span | undefined
}

/** A run with the log of its thread. Default: the newest run. */
function useSide({ threadId, runId }: Chosen): Side {
  const path = threadId ? threadPath(threadId) : undefined
  const { data: thread, error } = usePolled<ThreadDetail>(path, POLL_MS)
  const live = useLog(threadId ?? '', useStart(thread), () => {})
  const { runs } = live.tree
  const run = runId === undefined || runId === '-' ? runs.at(-1) : runs.find(({ id }) => id === runId)
  return { threadId, runId: run?.id ?? runId, thread, problem: error?.message, live, run }
}

interface SidePickerProps {
  readonly label: string
  readonly side: Side
  readonly threads: ThreadsPage | undefined
  readonly onChange: (chosen: Chosen) => void
}

function SidePicker({ label, side, threads, onChange }: SidePickerProps) {
  const { threadId, runId, live, problem, run } = side
  const listed = (threads?.threads ?? []).map(({ thread_id: id, title }) => [id, title ?? id] as const)
  const isListed = listed.some(([id]) => id === threadId)
  const own = !threadId || isListed ? [] : [[threadId, side.thread?.title ?? threadId] as const]
  const runs = live.tree.runs.toReversed().map(runOption)
  const isLoaded = side.thread !== undefined && live.log.last >= side.thread.log.head
  return (
    <section class="side stack" aria-label={`Run ${label}`}>
      <h2>
        {label} {run && <span class="dim">{run.name}</span>}
      </h2>
      <Select
        label={`Thread ${label}`}
        value={threadId ?? ''}
        options={[...(threadId ? [] : [['', 'choose a thread'] as const]), ...own, ...listed]}
        onChange={(id) => onChange({ threadId: id, runId: undefined })}
      />
      <Select
        label={`Run ${label}`}
        value={runId ?? ''}
        options={run || !runId ? runs : [[runId, shortId(runId)], ...runs]}
        onChange={(id) => onChange({ threadId, runId: id })}
      />
      {problem !== undefined && <Problem>{problem}</Problem>}
      {!run && isLoaded && <Empty>This run is not in the events of this page.</Empty>}
      {run && (
        <p class="line small">
          <a href={routeTo('threads', threadId!, 'steps', run.id, run.id)}>Open its steps</a>
        </p>
      )}
    </section>
  )
}

function Comparison({ a, b, prices }: { readonly a: Side; readonly b: Side; readonly prices: Prices }) {
  const [ofA, ofB] = [useValues(a), useValues(b)]
  return (
    <>
      <section aria-labelledby="totals">
        <h2 id="totals">Totals</h2>
        <ComparedTotals a={a.run!} b={b.run!} prices={prices} />
      </section>
      <section aria-labelledby="inputs">
        <h2 id="inputs">Inputs</h2>
        <div class="sides">
          <Input label="Input of A" values={ofA} />
          <Input label="Input of B" values={ofB} />
        </div>
      </section>
      <section aria-labelledby="answers">
        <h2 id="answers">Answers</h2>
        <div class="sides">
          <Answer label="Answer of A" run={a.run!} text={ofA.answer} />
          <Answer label="Answer of B" run={b.run!} text={ofB.answer} />
        </div>
      </section>
      <section aria-labelledby="steps">
        <h2 id="steps">Steps</h2>
        <ComparedSteps a={a.run!} b={b.run!} threadA={a.threadId!} threadB={b.threadId!} prices={prices} />
      </section>
      <section aria-labelledby="states">
        <h2 id="states">Final states, from A to B</h2>
        <States a={ofA.end} b={ofB.end} />
      </section>
    </>
  )
}

// The log and the tree change in place: their version says when.
const useValues = ({ live, run }: Side) =>
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useMemo(() => runValues(live.log, live.tree.runs, run!), [live.version, run?.id])

type Values = ReturnType<typeof runValues>

function Input({ label, values: { before, start } }: { readonly label: string; readonly values: Values }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by the keyboard
    <section class="side box" aria-label={label} tabIndex={0}>
      <h3 class="small dim">{label}</h3>
      {start === undefined ? (
        <Empty>It went on from a question, or its beginning is not in the events of this page.</Empty>
      ) : before === undefined ? (
        <JsonTree value={start} open={2} />
      ) : (
        <Changes
          changes={diff(before, start)}
          label={label}
          none="It was given no new state. A run that answers a question is given none."
        />
      )}
    </section>
  )
}

interface AnswerProps {
  readonly label: string
  readonly run: Span
  readonly text: string | undefined
}

const Answer = ({ label, run, text }: AnswerProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by the keyboard
  <section class="side box" aria-label={label} tabIndex={0}>
    <h3 class="small dim">{label}</h3>
    {run.error !== undefined && <Problem>{run.error}</Problem>}
    {text === undefined ? <Empty>It has no answer in words.</Empty> : <p class="text">{text}</p>}
  </section>
)

function States({ a, b }: { readonly a: unknown; readonly b: unknown }) {
  if (a === undefined || b === undefined)
    return <Empty>The final states are not in the events of this page.</Empty>
  return (
    <Changes
      changes={diff(withoutIds(a), withoutIds(b))}
      label="How the state of B differs from that of A"
      none="The final states are the same."
    />
  )
}
