import { createPatch, type Operation, type Pointer } from 'rfc6902'
import { sameJson } from '../messages/record.ts'
import type { AgUiEvent } from './events.ts'

type Values = Readonly<Record<string, unknown>>

/** What a run writes for its graph: its client has sent what these keys hold. */
const KEYS_OF_RUN: readonly string[] = ['messages', 'ag-ui', 'copilotkit']

export const isKeyOfRun = (key: string): boolean => KEYS_OF_RUN.includes(key)

/** The state of an agent as its clients share it. */
export const sharedState = (values: Values = {}): Values =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !isKeyOfRun(key)))

export interface StateTeller {
  /** The state whole at first, then what has changed. Nothing where nothing has. */
  tell(values: Values): readonly AgUiEvent[]
  /** The whole state, whatever the client has. */
  tellWhole(values: Values): readonly AgUiEvent[]
}

/** Tells a client of the state of the agent. */
export function createStateTeller(): StateTeller {
  let told: Values | undefined
  const tellWhole = (values: Values): readonly AgUiEvent[] => {
    told = sharedState(values)
    return [{ type: 'STATE_SNAPSHOT', snapshot: told }]
  }
  return {
    tellWhole,
    tell(values) {
      const next = sharedState(values)
      // A page of an agent without a state may have one of its own.
      if (!told) return Object.keys(next).length > 0 ? tellWhole(values) : []
      const delta = createPatch(told, next, diffLongLists)
      told = next
      return delta.length === 0 ? [] : [{ type: 'STATE_DELTA', delta }]
    },
  }
}

/** Comparing two lists costs the product of their lengths. */
const MAX_COMPARED = 40_000

/** Of a long list, what was added at its end; else the whole list. */
function diffLongLists(before: unknown, after: unknown, pointer: Pointer): Operation[] | undefined {
  if (!Array.isArray(before) || !Array.isArray(after) || before.length * after.length <= MAX_COMPARED)
    return undefined
  const path = pointer.toString()
  if (after.length < before.length || !before.every((item, at) => sameJson(item, after[at])))
    return [{ op: 'replace', path, value: after }]
  return after.slice(before.length).map((value) => ({ op: 'add', path: `${path}/-`, value }))
}
