import { isMiddleware } from './middleware.ts'
import type { Span } from './spans.ts'

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
