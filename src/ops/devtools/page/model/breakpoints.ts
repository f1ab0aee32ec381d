import type { AgentGraph, Breakpoints } from '../../wire.ts'
import { isObject, parseJson } from './json.ts'

/** Every node. */
export const EVERY = '*'

export const SIDES = ['before', 'after'] as const
export type Side = (typeof SIDES)[number]

/** The nodes at which the runs of an agent stop. */
export type Stops = Readonly<Record<Side, readonly string[]>>

export const NO_STOPS: Stops = { before: [], after: [] }

/** Stops that were stored as text. */
export function readStops(text: string | null): Stops {
  const parsed = parseJson(text ?? '')
  const value = 'value' in parsed && isObject(parsed.value) ? parsed.value : {}
  return { before: textsIn(value.before), after: textsIn(value.after) }
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []

export const toggled = (stops: Stops, side: Side, node: string): Stops => ({
  ...stops,
  [side]: stops[side].includes(node) ? stops[side].filter((one) => one !== node) : [...stops[side], node],
})

export const countStops = ({ before, after }: Stops): number => before.length + after.length

/** The fields of a request that starts a run. */
export const fieldsOfStops = ({ before, after }: Stops): Breakpoints => ({
  ...(before.length > 0 && { interrupt_before: before.includes(EVERY) ? EVERY : before }),
  ...(after.length > 0 && { interrupt_after: after.includes(EVERY) ? EVERY : after }),
})

/** The nodes at which a run can stop, in the order of the graph: those of subgraphs are not among them. */
export const stoppingNodes = ({ nodes }: AgentGraph): readonly string[] => [
  ...new Set(nodes.map(({ id }) => id.split(':')[0]!).filter((id) => id !== '__start__' && id !== '__end__')),
]
