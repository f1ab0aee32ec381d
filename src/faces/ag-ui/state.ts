import { createPatch, type Operation, type Pointer } from 'rfc6902'
import { sameJson } from '../../messages/record.ts'

type Values = Readonly<Record<string, unknown>>

/** Keys that a run writes for its graph. The client has sent their content, so they are not sent back. */
const KEYS_OF_RUN: readonly string[] = ['messages', 'ag-ui', 'copilotkit']

export const isKeyOfRun = (key: string): boolean => KEYS_OF_RUN.includes(key)

/** The agent state that is shared with clients. */
export const sharedState = (values: Values = {}): Values =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !isKeyOfRun(key)))

export interface StateWriter {
  /** The complete state the first time, then only the changes. Empty if nothing has changed. */
  delta(values: Values): readonly AgUiEvent[]
  /** The complete state, whatever the client has. */
  snapshot(values: Values): readonly AgUiEvent[]
}

/** Sends the agent's state to a client. */
export function createStateWriter(): StateWriter {
  let told: Values | undefined
  const snapshot = (values: Values): readonly AgUiEvent[] => {
    told = sharedState(values)
    return [{ type: 'STATE_SNAPSHOT', snapshot: told }]
  }
  return {
    snapshot,
    delta(values) {
      const next = sharedState(values)
      // The page of an agent without a state may have a state of its own.
      if (!told) return Object.keys(next).length > 0 ? snapshot(values) : []
      const delta = createPatch(told, next, diffLongLists)
      told = next
      return delta.length === 0 ? [] : [{ type: 'STATE_DELTA', delta }]
    },
  }
}

/** Comparing two lists takes time proportional to the product of their lengths. */
const MAX_COMPARED = 40_000

/** For a long list, the items added at its end, or otherwise the whole list. */
function diffLongLists(before: unknown, after: unknown, pointer: Pointer): Operation[] | undefined {
  if (!Array.isArray(before) || !Array.isArray(after) || before.length * after.length <= MAX_COMPARED)
    return undefined
  const path = pointer.toString()
  if (after.length < before.length || !before.every((item, at) => sameJson(item, after[at])))
    return [{ op: 'replace', path, value: after }]
  return after.slice(before.length).map((value) => ({ op: 'add', path: `${path}/-`, value }))
}

/** An AG-UI event. Source: the specification, version 1.0, and `EventSchemas` of `@ag-ui/core` 0.0.59. */
export interface AgUiEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** The version that the server reports to clients that speak it. */
export const PROTOCOL_VERSION = '1.0'

/**
 * Whether a client has declared version 1.0 or newer. Older clients fail on outcomes that they do not know.
 */
export const speaksV1 = (protocolVersion: string | undefined): boolean =>
  protocolVersion !== undefined && Number.parseInt(protocolVersion, 10) >= 1
