import type { LogEntry } from './log.ts'
import { type Span, segmentId } from './spans.ts'

/** The position of an event in the tree of its thread. */
export interface SpanPlace {
  readonly run: Span
  readonly span: Span
}

/** The fields by which an event is found. */
type Located = Pick<LogEntry, 'seq' | 'method' | 'namespace' | 'about'>

export interface SpanIndex {
  /** The run and the innermost span of an event. Undefined before the first run that the page has. */
  of(entry: Located): SpanPlace | undefined
}

/** Finds the spans of events. The tree changes in place, so create this again after it has changed. */
export function createPlaces(runs: readonly Span[]): SpanIndex {
  const indexes = new Map<Span, ReadonlyMap<string, Span>>()
  function indexOf(run: Span): ReadonlyMap<string, Span> {
    const known = indexes.get(run)
    if (known) return known
    const index = new Map<string, Span>()
    addTo(index, run)
    indexes.set(run, index)
    return index
  }
  return {
    of(entry) {
      const run = runs.findLast(({ firstSeq }) => firstSeq <= entry.seq)
      return run && { run, span: spanOf(run, indexOf(run), entry) }
    },
  }
}

function addTo(index: Map<string, Span>, span: Span): void {
  index.set(span.id, span)
  for (const child of span.children) addTo(index, child)
}

function spanOf(
  run: Span,
  index: ReadonlyMap<string, Span>,
  { seq, method, namespace, about }: Located,
): Span {
  const segment = namespace.findLast((one) => index.has(segmentId(one)))
  const around = segment === undefined ? run : index.get(segmentId(segment))!
  switch (method) {
    case 'tasks':
    case 'tools':
      return index.get(about ?? '') ?? around
    case 'messages':
      return callAt(around, seq, about) ?? around
    // The update of a task comes just before its result.
    case 'updates':
      return (
        around.children.find(
          ({ name, outputSeq }) => name === about && outputSeq !== undefined && outputSeq > seq,
        ) ?? around
      )
    case 'input.requested':
      return askerOf(around, about) ?? around
    default:
      return around
  }
}

/** The model call whose message an event belongs to. A function's messages are below its step. */
function callAt(span: Span, seq: number, id: string | undefined): Span | undefined {
  for (const child of span.children) {
    const { kind, firstSeq, outputSeq = Number.POSITIVE_INFINITY } = child
    if (kind === 'model' && (id === undefined ? firstSeq <= seq && seq <= outputSeq : child.id === id))
      return child
    const inside = id === undefined && kind === 'step' ? callAt(child, seq, id) : undefined
    if (inside) return inside
  }
  return undefined
}

function askerOf(span: Span, interrupt: string | undefined): Span | undefined {
  if (interrupt === undefined) return undefined
  if (span.interrupts.includes(interrupt)) return span
  for (const child of span.children) {
    const asker = askerOf(child, interrupt)
    if (asker) return asker
  }
  return undefined
}
