import { isRecord } from '../../messages/record.ts'
import { hold } from '../check.ts'

/** An event as received. If the event has none, `namespace` is `[]` and `data` is undefined. */
export interface WireEvent {
  readonly event_id: string
  readonly seq: number
  readonly method: string
  readonly namespace: readonly string[]
  readonly node: string | undefined
  readonly data: unknown
  /** The event as sent. */
  readonly sent: unknown
}

/** The result of a command that must succeed. */
export function resultOf(method: string, answer: unknown): unknown {
  hold(`the answer to ${method}`, at(answer, 'type') === 'success', 'success', answer)
  return at(answer, 'result')
}

/** Every channel. */
export const ALL = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
] as const

const ENDINGS: readonly unknown[] = ['completed', 'failed', 'interrupted']

/** The value at a path of keys, or undefined. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Record<string | number, unknown>)[key]
  }
  return found
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export function readEvent(sent: unknown): WireEvent | undefined {
  if (!isRecord(sent) || !isRecord(sent.params)) return undefined
  const { namespace, node, data } = sent.params
  return {
    event_id: sent.event_id as string,
    seq: sent.seq as number,
    method: String(sent.method),
    namespace: listOf(namespace).map(String),
    node: typeof node === 'string' ? node : undefined,
    data,
    sent,
  }
}

export const isAtRoot = ({ namespace }: WireEvent): boolean => namespace.length === 0

/** Whether an event is a lifecycle event of the run itself. */
export const isRoot = (event: WireEvent): boolean => event.method === 'lifecycle' && isAtRoot(event)

/** Whether an event ends a run. */
export const isEnding = (event: WireEvent): boolean =>
  isRoot(event) && ENDINGS.includes(at(event.data, 'event'))

export const hasEnded =
  (runs: number) =>
  (events: readonly WireEvent[]): boolean =>
    events.filter(isEnding).length >= runs

/** The run states in event order: `running`, `completed`, … */
export const rootStates = (events: readonly WireEvent[]): unknown[] =>
  events.filter(isRoot).map(({ data }) => at(data, 'event'))

export const dataOf = (events: readonly WireEvent[], method: string): unknown[] =>
  events.filter((event) => event.method === method).map(({ data }) => data)

/** The messages of a state's values. */
export const messagesOf = (values: unknown): readonly unknown[] => listOf(at(values, 'messages'))

export const messageIds = (values: unknown): unknown[] =>
  messagesOf(values).map((message) => at(message, 'id'))

export const checkpointOf = (state: unknown): unknown => at(state, 'checkpoint', 'checkpoint_id')

export const idsOf = (events: readonly WireEvent[]): string[] => events.map(({ event_id }) => event_id)

/** The fields that two subscribers must receive alike. */
export const sentOf = (events: readonly WireEvent[]): unknown[] => events.map(({ sent }) => sent)

export interface StreamFilter {
  readonly channels: readonly string[]
  readonly namespaces?: readonly (readonly string[])[] | undefined
  readonly depth?: number | undefined
}

/** Whether an event matches a filter, by the rules of the protocol's clients. */
export function matches(event: WireEvent, { channels, namespaces, depth }: StreamFilter): boolean {
  const channel = channelOf(event)
  if (!channels.includes(channel) && !(channel.startsWith('custom:') && channels.includes('custom')))
    return false
  if (!namespaces?.length) return true
  return namespaces.some(
    (prefix) =>
      prefix.every((segment, index) => sameSegment(segment, event.namespace[index])) &&
      (depth === undefined || event.namespace.length - prefix.length <= depth),
  )
}

function channelOf({ method, data }: WireEvent): string {
  if (method === 'input.requested') return 'input'
  const name = method === 'custom' ? at(data, 'name') : undefined
  return name === undefined || name === null ? method : `custom:${name}`
}

/** A segment without an id, such as `tools`, matches every task with that name. */
function sameSegment(wanted: string, seen: string | undefined): boolean {
  return (
    seen !== undefined && (wanted === seen || (!wanted.includes(':') && seen.split(':', 1)[0] === wanted))
  )
}
