import { decodeMessage, textOf } from '../../../../messages/index.ts'
import { fieldOf, isObject } from './json.ts'
import type { Log } from './log.ts'
import type { Span } from './spans.ts'

/** The input and output of a run, from the states in the log. */
export interface RunValues {
  /** The state before the run. Undefined if the page does not have it. */
  readonly before: unknown
  /** The state with the input of the run. Undefined for a run that resumed from an interrupt. */
  readonly start: unknown
  readonly end: unknown
  /** The text of the last assistant message that the run added. */
  readonly answer: string | undefined
}

export function runValues(log: Log, runs: readonly Span[], run: Span): RunValues {
  const earlier = runs.slice(0, runs.indexOf(run)).findLast(({ outputSeq }) => outputSeq !== undefined)
  const before = earlier ? stateAt(log, earlier.outputSeq) : run.firstSeq === 1 ? {} : undefined
  const start = isStart(run) ? stateAt(log, run.inputSeq) : undefined
  const end = stateAt(log, run.outputSeq)
  return { before, start, end, answer: answerOf(before, start, end) }
}

/** A run that resumes from an interrupt has its first state after a step. */
const isStart = ({ inputSeq, children }: Span): boolean =>
  inputSeq !== undefined && children.every(({ firstSeq }) => firstSeq > inputSeq)

function stateAt({ entries }: Log, seq: number | undefined): unknown {
  const entry = entries.find((one) => one.seq === seq && one.method === 'values')
  return entry && fieldOf(fieldOf(JSON.parse(entry.text), 'params'), 'data')
}

function answerOf(before: unknown, start: unknown, end: unknown): string | undefined {
  const known = new Set([...messagesIn(before), ...messagesIn(start)].map(idOf))
  for (const raw of messagesIn(end).toReversed()) {
    const message = decodeMessage(raw)
    if (message?.role !== 'assistant' || known.has(idOf(raw))) continue
    const text = textOf(message)
    if (text !== '') return text
  }
  return undefined
}

const messagesIn = (state: unknown): readonly unknown[] =>
  isObject(state) && Array.isArray(state.messages) ? state.messages : []

const idOf = (message: unknown): unknown => (isObject(message) ? message.id : undefined)

/** The fields with ids, which differ in every run. */
const IDS = new Set(['id', 'tool_call_id'])

/** A state without the ids of its messages and calls, which would differ between any two runs. */
export function withoutIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIds)
  if (!isObject(value)) return value
  const isMessage = 'type' in value && ('content' in value || 'args' in value)
  const fields = Object.entries(value).filter(([key]) => !(isMessage && IDS.has(key)))
  return Object.fromEntries(fields.map(([key, field]) => [key, withoutIds(field)]))
}
