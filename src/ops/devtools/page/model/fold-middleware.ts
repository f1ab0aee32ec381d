import type { Prices } from '../../wire.ts'
import { isMiddleware } from './middleware.ts'
import { rowsOf, type Span } from './spans.ts'
import { add, NOTHING, type Totals, totalsOf } from './usage.ts'

/** A run without its middleware, and the number of middleware steps. */
export interface FoldedRun {
  readonly span: Span
  readonly count: number
}

/**
 * Removes middleware steps from a run, except those that failed, that asked a
 * question, or that are selected.
 */
export function foldMiddleware(span: Span, selected?: string): FoldedRun {
  const inside = span.children.map((child) => foldMiddleware(child, selected))
  const children = inside.map((one) => one.span).filter((child) => !isQuiet(child, selected))
  const own = span.children.filter(({ name }) => isMiddleware(name)).length
  return { span: { ...span, children }, count: inside.reduce((sum, { count }) => sum + count, own) }
}

const isQuiet = (span: Span, selected: string | undefined): boolean =>
  isMiddleware(span.name) && isAllWell(span, selected)

const isAllWell = ({ id, status, children }: Span, selected: string | undefined): boolean =>
  id !== selected &&
  status !== 'failed' &&
  status !== 'interrupted' &&
  children.every((child) => isAllWell(child, selected))

/** The tokens of all model calls of a span and its descendants. */
export function totalsIn(span: Span, prices: Prices): Totals {
  const own = span.calls.map((call) => totalsOf(call, prices))
  return [...own, ...span.children.map((child) => totalsIn(child, prices))].reduce(add, NOTHING)
}

export function countsIn(run: Span): Readonly<Record<Span['kind'], number>> {
  const counts = { run: 0, step: 0, tool: 0, subagent: 0, model: 0 }
  for (const { span } of rowsOf(run)) counts[span.kind] += 1
  return counts
}
