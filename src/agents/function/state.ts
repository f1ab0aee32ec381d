import { toWireMessage, type WireMessage } from '../../messages/index.ts'
import { AgentInputError } from '../errors.ts'
import { toJson } from '../to-json.ts'

/** The state of an agent function: plain JSON, frozen. `messages` are LangChain's flat messages, as clients carry them. */
export type State = Readonly<Record<string, unknown>>

/** Keys that begin so belong to the engines (ours and LangGraph's), not to the state. */
const RESERVED = '__'
const REMOVE_ALL = '__remove_all__'

/**
 * The state after an update. `messages` are merged as LangGraph merges them: one with a known id replaces that one, others are
 * appended, `{ type: 'remove', id }` removes (`__remove_all__`: all before it). Other keys are replaced; `undefined` removes
 * the key. An update is an object, or a list of `[key, value]`.
 *
 * @param makeId For messages that have no id.
 * @throws AgentInputError naming the place.
 */
export function reduce(state: State, update: unknown, makeId: () => string): State {
  if (update === undefined || update === null) return state
  const next: Record<string, unknown> = { ...state }
  for (const [key, value] of entriesOf(update)) {
    if (key.startsWith(RESERVED))
      throw new AgentInputError(`The state key ${JSON.stringify(key)} is reserved.`)
    if (key === 'messages') next.messages = mergeMessages(messagesOf(state), value, makeId)
    else if (value === undefined) delete next[key]
    else next[key] = own(value)
  }
  return Object.freeze(next)
}

export function messagesOf(state: State): readonly WireMessage[] {
  return Array.isArray(state.messages) ? (state.messages as readonly WireMessage[]) : []
}

/** Without the channels of an engine. */
export function publicState(channels: Readonly<Record<string, unknown>>): State {
  const fields = Object.entries(channels)
  return Object.fromEntries(fields.filter(([key]) => !key.startsWith(RESERVED) && !key.startsWith('branch:')))
}

/** A frozen JSON copy: neither side can change what the other sees. */
export function own(value: unknown): unknown {
  return freeze(structuredClone(toJson(value)))
}

/** A tool's answer goes behind the message that called the tool, or behind the answers that already stand there. */
export function insertAnswer(state: State, answer: WireMessage): State {
  const messages = messagesOf(state)
  const frozen = own(answer) as WireMessage
  const known = messages.findIndex(({ id }) => id === answer.id)
  if (known >= 0) return Object.freeze({ ...state, messages: Object.freeze(messages.with(known, frozen)) })
  let place = messages.findLastIndex((message) => calls(message, answer.tool_call_id)) + 1
  if (place === 0) place = messages.length
  while (messages[place]?.type === 'tool') place++
  return Object.freeze({ ...state, messages: Object.freeze(messages.toSpliced(place, 0, frozen)) })
}

/** Whether the state has exactly this message. */
export function isKnown(state: State, message: WireMessage): boolean {
  return sameJson(
    messagesOf(state).find(({ id }) => id === message.id),
    toJson(message),
  )
}

function sameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [keys, others] = [Object.keys(a), Object.keys(b)]
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key as never], b[key as never]))
  )
}

function entriesOf(update: unknown): readonly [string, unknown][] {
  if (Array.isArray(update) && update.every(isPair)) return update
  if (typeof update === 'object' && update !== null && !Array.isArray(update)) return Object.entries(update)
  throw new AgentInputError('A state update is an object, or a list of [key, value].')
}

const isPair = (value: unknown): value is [string, unknown] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string'

function mergeMessages(
  current: readonly WireMessage[],
  update: unknown,
  makeId: () => string,
): readonly WireMessage[] {
  const merged: (WireMessage | undefined)[] = [...current]
  const places = new Map(current.map((message, place) => [message.id, place]))
  const list: readonly unknown[] = Array.isArray(update) ? update : [update]
  for (const [at, item] of list.entries()) {
    const message = toWireMessage(toJson(item))
    if (!message)
      throw new AgentInputError(
        `messages[${at}] is not a message: it needs { role, content } or { type, content }.`,
      )
    if (message.type === 'remove') {
      if (message.id === REMOVE_ALL) {
        merged.length = 0
        places.clear()
      }
      const place = places.get(message.id)
      if (place !== undefined) merged[place] = undefined
      continue
    }
    const id = message.id ?? makeId()
    const place = places.get(id) ?? merged.length
    places.set(id, place)
    merged[place] = own({ ...message, id }) as WireMessage
  }
  return Object.freeze(merged.filter((message) => message !== undefined))
}

function calls(message: WireMessage, callId: unknown): boolean {
  const list = message.tool_calls
  return Array.isArray(list) && list.some((call) => (call as { id?: unknown }).id === callId)
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) freeze(inner)
  }
  return value
}
