import type { Prices } from '../../wire.ts'
import { rowsOf, type Span } from './spans.ts'
import { add, NOTHING, type Totals, totalsOf } from './usage.ts'

/** The tokens of all model calls of a span and its descendants. */
export function totalsIn(span: Span, prices: Prices): Totals {
  const own = span.calls.map((call) => totalsOf(call, prices))
  return [...own, ...span.children.map((child) => totalsIn(child, prices))].reduce(add, NOTHING)
}

/** The number of rows of each kind in a run. */
export function countsIn(run: Span): Readonly<Record<Span['kind'], number>> {
  const counts = { run: 0, step: 0, tool: 0, subagent: 0, model: 0 }
  for (const { span } of rowsOf(run)) counts[span.kind] += 1
  return counts
}
