import type { StandardSchemaV1 } from '@standard-schema/spec'
import { toWireMessage, type WireMessage } from '../../messages/index.ts'
import { type Fields, filterFields, isRecord, itemsOf } from '../../messages/record.ts'
import { asImmutable } from '../../storage/checkpointer/config.ts'
import { AgentInputError } from '../errors.ts'
import { set, toJson } from '../to-json.ts'

/** The state of an agent function: frozen plain JSON, with `messages` in LangChain's flat form. */
export type State = Fields

/** Keys with this prefix belong to the engines (ours and LangGraph's), not to the state. */
const RESERVED = '__'
const REMOVE_ALL = '__remove_all__'

/**
 * The state after an update, which is an object or a list of `[key, value]`. Values replace those of the
 * state; `undefined` removes the key. `messages` are merged like in LangGraph: a message replaces the one
 * with the same id or is appended, and `{ type: 'remove', id }` removes one (`__remove_all__`: all earlier
 * messages).
 *
 * @param makeId Creates ids for messages without one.
 * @throws AgentInputError with the key or position.
 */
export function reduce(state: State, update: unknown, makeId: () => string): State {
  if (update === undefined || update === null) return state
  const next: Record<string, unknown> = { ...state }
  for (const [key, value] of entriesOf(update)) {
    if (key.startsWith(RESERVED))
      throw new AgentInputError(`The state key ${JSON.stringify(key)} is reserved.`)
    if (key === 'messages') next.messages = mergeMessages(messagesOf(state), value, makeId)
    else if (value === undefined) delete next[key]
    else next[key] = frozenCopy(value)
  }
  return asImmutable(Object.freeze(next))
}

export function messagesOf(state: State): readonly WireMessage[] {
  return itemsOf(state.messages) as readonly WireMessage[]
}

/** The state in the channels of a checkpoint, without the engines' channels. */
export function publicState(channels: Fields): State {
  return filterFields(channels, (key) => !key.startsWith(RESERVED) && !key.startsWith('branch:'))
}

/** The input of a run as a state change. Undefined unless it is an object or a string. */
export function changeOf(raw: unknown): unknown {
  if (typeof raw === 'string') return { messages: [raw] }
  return isRecord(raw) ? raw : undefined
}

/**
 * The input as the function gets it: the output of the schema, or the object itself if there is no schema. A
 * string is a user message.
 *
 * @throws AgentInputError with the path.
 */
export async function readInput<Input>(
  schema: StandardSchemaV1<unknown, Input> | undefined,
  raw: unknown,
): Promise<Input> {
  if (!schema) {
    const change = changeOf(raw)
    if (change === undefined) throw new AgentInputError('The input must be an object or a string.')
    return change as Input
  }
  return validated(schema, raw, 'The input', ['input'])
}

/**
 * The value as a schema returns it.
 *
 * @param above The start of each path in the error.
 * @throws AgentInputError with the paths.
 */
export async function validated<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
  what: string,
  above: readonly string[] = [],
): Promise<Output> {
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return result.value
  const problems = result.issues.map(({ path = [], message }) => {
    const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment))
    return [[...above, ...keys].join('.'), message].filter(Boolean).join(': ')
  })
  throw new AgentInputError(`${what} is not valid. ${problems.join('; ')}`)
}

/** A frozen JSON copy, so that the agent and the engine cannot change each other's values. */
export function frozenCopy(value: unknown): unknown {
  const copy = copyFrozen(toJson(value))
  return typeof copy === 'object' && copy !== null ? asImmutable(copy) : copy
}

/**
 * A frozen copy of plain JSON. Its strings are shared, which makes it much cheaper than a structured clone.
 */
function copyFrozen(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) return Object.freeze(json.map(copyFrozen))
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(json)) set(copy, key, copyFrozen(json[key as never]))
  return Object.freeze(copy)
}

/** Inserts a tool's answer after the message with the call, and after other answers to that message. */
export function insertAnswer(state: State, answer: WireMessage): State {
  const messages = messagesOf(state)
  const frozen = frozenCopy(answer) as WireMessage
  let place = messages.findIndex(({ id }) => id === answer.id)
  const replaced = place < 0 ? 0 : 1
  if (replaced === 0) {
    place = messages.findLastIndex((message) => calls(message, answer.tool_call_id)) + 1 || messages.length
    while (messages[place]?.type === 'tool') place++
  }
  const merged = asImmutable(Object.freeze(messages.toSpliced(place, replaced, frozen)))
  return asImmutable(Object.freeze({ ...state, messages: merged }))
}

function entriesOf(update: unknown): readonly [string, unknown][] {
  if (Array.isArray(update) && update.every(isPair)) return update
  if (isRecord(update)) return Object.entries(update)
  throw new AgentInputError('A state update must be an object or a list of [key, value] pairs.')
}

const isPair = (value: unknown): value is [string, unknown] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string'

function mergeMessages(
  current: readonly WireMessage[],
  update: unknown,
  makeId: () => string,
): readonly WireMessage[] {
  const merged: (WireMessage | undefined)[] = [...current]
  const list: readonly unknown[] = Array.isArray(update) ? update : [update]
  let placeBefore = placesIn(current, list.length)
  /**
   * The positions of the update's messages. A removed message keeps its position for another with the same
   * id.
   */
  const places = new Map<string | undefined, number>()
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
        placeBefore = () => undefined
      }
      const place = places.get(message.id) ?? placeBefore(message.id)
      if (place !== undefined) merged[place] = undefined
      continue
    }
    const id = message.id ?? makeId()
    const place = places.get(id) ?? placeBefore(id) ?? merged.length
    places.set(id, place)
    merged[place] = copyFrozen(toJson({ ...message, id })) as WireMessage
  }
  return asImmutable(Object.freeze(merged.filter((message) => message !== undefined)))
}

/** Smaller updates search the messages; larger ones index them. */
const MANY = 8

function placesIn(
  messages: readonly WireMessage[],
  updates: number,
): (id: string | undefined) => number | undefined {
  if (updates >= MANY) {
    const places = new Map(messages.map(({ id }, place) => [id, place]))
    return (id) => places.get(id)
  }
  return (id) => {
    // Not findLastIndex: a callback for each message takes most of its time.
    for (let place = messages.length - 1; place >= 0; place--) if (messages[place]!.id === id) return place
    return undefined
  }
}

function calls(message: WireMessage, callId: unknown): boolean {
  return itemsOf(message.tool_calls).some((call) => (call as { id?: unknown }).id === callId)
}
