/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import type { Prices } from '../../wire.ts'
import { routeTo } from '../data/hooks.ts'
import { align } from '../model/diff.ts'
import { countsIn, foldMiddleware, totalsIn } from '../model/fold-middleware.ts'
import { rowsOf, type Span, type SpanRow } from '../model/spans.ts'
import { durationText } from '../model/text.ts'
import { Status } from './parts.tsx'
import { KindName } from './step-detail.tsx'
import { costOf, tokensText } from './tokens.tsx'

interface ComparedProps {
  readonly a: Span
  readonly b: Span
  readonly prices: Prices
}

/** The totals of two runs. */
export function ComparedTotals({ a, b, prices }: ComparedProps) {
  const [totalsA, totalsB] = [totalsIn(a, prices), totalsIn(b, prices)]
  const [countsA, countsB] = [countsIn(a), countsIn(b)]
  const rows: readonly (readonly [name: string, ofA: ComponentChildren, ofB: ComponentChildren])[] = [
    ['status', <StatusOf key="a" span={a} />, <StatusOf key="b" span={b} />],
    ['took', tookText(a), tookText(b)],
    ['first token after', firstTokenText(a), firstTokenText(b)],
    ['steps', countsA.step + countsA.subagent, countsB.step + countsB.subagent],
    ['model calls', countsA.model, countsB.model],
    ['tool calls', countsA.tool, countsB.tool],
    ['tokens in → out', tokensText(totalsA), tokensText(totalsB)],
    ['read from the cache', tokensOf(totalsA.cacheRead), tokensOf(totalsB.cacheRead)],
    ['of reasoning', tokensOf(totalsA.reasoning), tokensOf(totalsB.reasoning)],
    ['cost', costOf(totalsA), costOf(totalsB)],
  ]
  return (
    <ComparedTable
      label="Totals"
      head={['', 'A', 'B']}
      rows={rows.filter(([, ...cells]) => cells.some((cell) => cell !== '')).map((cells) => cells)}
    />
  )
}

const StatusOf = ({ span: { status } }: { readonly span: Span }) => (
  <Status status={status === 'running' ? 'busy' : status} />
)

const tookText = ({ startedAt, endedAt }: Span): string =>
  endedAt === undefined ? '' : durationText(Math.max(0, endedAt - startedAt))

const firstTokenText = ({ startedAt, firstTokenAt }: Span): string =>
  firstTokenAt === undefined ? '' : durationText(Math.max(0, firstTokenAt - startedAt))

const tokensOf = (count: number): string => (count === 0 ? '' : count.toLocaleString('en-US'))

interface ComparedStepsProps extends ComparedProps {
  readonly threadA: string
  readonly threadB: string
}

/** The steps of two runs, aligned by node. */
export function ComparedSteps({ a, b, threadA, threadB, prices }: ComparedStepsProps) {
  const [rowsA, rowsB] = [rowsIn(a), rowsIn(b)]
  const rows = align(rowsA, rowsB, keyOf).map(([one, other]) => [
    <span class="cut step-name" key="name" style={{ paddingLeft: `${(one ?? other)!.depth * 12}px` }}>
      <KindName span={(one ?? other)!.span} />
    </span>,
    ...cellsOf(one, threadA, a, prices),
    ...cellsOf(other, threadB, b, prices),
  ])
  const head = ['step', 'A took', 'A tokens', 'A cost', 'B took', 'B tokens', 'B cost']
  const isPriced = [a, b].some((run) => totalsIn(run, prices).priced > 0)
  const isShown = (_: unknown, index: number) => isPriced || (index !== 3 && index !== 6)
  return (
    <ComparedTable
      label="Steps"
      head={head.filter(isShown)}
      rows={rows.map((cells) => cells.filter(isShown))}
    />
  )
}

const rowsIn = (run: Span): readonly SpanRow[] => rowsOf(foldMiddleware(run).span).slice(1)

/** Calls of different models are aligned as the same call. */
const keyOf = ({ depth, span: { kind, name } }: SpanRow): string =>
  `${depth} ${kind === 'model' ? kind : name}`

function cellsOf(
  row: SpanRow | undefined,
  threadId: string,
  run: Span,
  prices: Prices,
): readonly ComponentChildren[] {
  if (!row)
    return [
      <span class="dim" key="none">
        –
      </span>,
      '',
      '',
    ]
  const { span } = row
  const totals = totalsIn(span, prices)
  return [
    <a key="took" href={routeTo('threads', threadId, 'steps', span.id, run.id)} class={span.status}>
      {span.status === 'completed' ? tookText(span) : `${span.status} ${tookText(span)}`}
    </a>,
    tokensText(totals),
    costOf(totals),
  ]
}

interface ComparedTableProps {
  readonly label: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly ComponentChildren[])[]
}

const ComparedTable = ({ label, head, rows }: ComparedTableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by the keyboard
  <div class="scroll" tabIndex={0} role="region" aria-label={label}>
    <table>
      <thead>
        <tr>
          {head.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no ids of their own
          <tr key={index}>
            <th scope="row">{name}</th>
            {cells.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the cells keep their places
              <td key={at} class="number">
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
