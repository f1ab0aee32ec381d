import { rowsOf } from './clients.ts'

interface Compared {
  /** The first cell of the row in docs/benchmarks.md. */
  readonly bench: string
  readonly label: string
  readonly peer: string
}

/** What was measured of this server and of LangGraph's own, with the same graph. */
const COMPARED: readonly Compared[] = [
  {
    bench: 'burst, graph, vs embed server',
    label: 'of the CPU time to deliver an event to one of 100 readers, 2,000 events at once',
    peer: 'LangGraph’s embed server',
  },
  {
    bench: 'one event a turn, graph, vs embed server',
    label: 'of the CPU time if events come one at a time, as a model sends tokens',
    peer: 'LangGraph’s embed server',
  },
  {
    bench: 'a retained event of 219 bytes, vs embed server',
    label: 'of the memory for an event of 219 bytes that is kept for later readers',
    peer: 'LangGraph’s embed server',
  },
  {
    bench: "the same, vs LangGraph's dev server",
    label: 'of the CPU time of a run that a client waits for',
    peer: 'LangGraph’s dev server',
  },
  {
    bench: 'the same, runs a second with 8 at once, by the clock',
    label: 'as many runs a second with 8 clients at once',
    peer: 'LangGraph’s dev server',
  },
]

export const figuresOf = (page: string) => {
  const rows = rowsOf(page)
  return COMPARED.map(({ bench, ...compared }) => {
    const [, ours, theirs] = rows.find(([name]) => name === bench) ?? []
    if (!ours || !theirs) throw new Error(`docs/benchmarks.md has no row "${bench}".`)
    return { ...compared, ours, theirs, ...barsOf(ours, theirs), times: timesOf(ours, theirs) }
  })
}

const amountOf = (cell: string): number => Number.parseFloat(cell.replaceAll(',', ''))

/** Ours as a part of theirs, or as a multiple: `1/25` or `26 times`. */
function timesOf(ours: string, theirs: string): string {
  const times = amountOf(ours) / amountOf(theirs)
  return times < 1 ? `1/${rounded(1 / times)}` : `${rounded(times)} times`
}

const rounded = (times: number): string => (times < 10 ? times.toFixed(1) : `${Math.round(times)}`)

/** The lengths of the bars in percent. */
function barsOf(ours: string, theirs: string) {
  const longest = Math.max(amountOf(ours), amountOf(theirs))
  return { oursBar: (amountOf(ours) / longest) * 100, theirsBar: (amountOf(theirs) / longest) * 100 }
}
