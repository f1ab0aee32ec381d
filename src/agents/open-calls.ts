import { uuid7 } from '../core/ids.ts'
import type { WireMessage } from '../messages/index.ts'
import { isRecord, itemsOf } from '../messages/record.ts'

/** A message of a state: an instance of LangChain's, or its fields. */
interface StateMessage {
  readonly id?: unknown
  readonly content?: unknown
  readonly tool_calls?: unknown
  readonly invalid_tool_calls?: unknown
  readonly additional_kwargs?: { readonly tool_calls?: unknown } | undefined
  readonly tool_call_id?: unknown
}

interface Call {
  readonly id: string
  readonly name: string | undefined
}

/** The calls of a message for which a provider expects a result, as far as they have an id. */
export type CallsOf = (message: StateMessage) => readonly Call[]

/** Messages of agent functions: calls with invalid arguments are sent back, too. */
export const callsOfFunction: CallsOf = ({ tool_calls, invalid_tool_calls }) =>
  [...itemsOf(tool_calls), ...itemsOf(invalid_tool_calls)].flatMap(toCall)

/**
 * Messages of graphs. LangChain's models also send back calls whose arguments were cut off, which it does not
 * list as calls: in OpenAI's form if the message has no other calls, and in Anthropic's.
 */
export const callsOfGraph: CallsOf = ({ tool_calls, additional_kwargs, content }) => {
  const listed = itemsOf(tool_calls).length > 0 ? tool_calls : additional_kwargs?.tool_calls
  const calls = itemsOf(listed).flatMap(toCall)
  const known = new Set(calls.map(({ id }) => id))
  const blocks = itemsOf(content).filter((block) => isRecord(block) && block.type === 'tool_use')
  return [...calls, ...blocks.flatMap(toCall).filter(({ id }) => !known.has(id))]
}

/** A call in LangChain's form, in OpenAI's, or in Anthropic's. */
function toCall(value: unknown): readonly Call[] {
  if (!isRecord(value) || typeof value.id !== 'string') return []
  const name = isRecord(value.function) ? value.function.name : value.name
  return [{ id: value.id, name: typeof name === 'string' ? name : undefined }]
}

/**
 * The tool calls at the end of a conversation that have no result. Results belong to calls in order, because
 * a model may use an id twice.
 */
export function openCalls(conversation: readonly unknown[], callsOf: CallsOf): readonly Call[] {
  const at = conversation.findLastIndex((message) => !isResult(message))
  const last = conversation[at]
  const results = conversation.slice(at + 1).map((result) => (result as StateMessage).tool_call_id)
  return (isRecord(last) ? callsOf(last) : []).filter(({ id }) => {
    const place = results.indexOf(id)
    if (place >= 0) results.splice(place, 1)
    return place < 0
  })
}

export const isResult = (message: unknown): boolean => isRecord(message) && message.tool_call_id !== undefined

/** The result of a call that has failed, in LangChain's flat form. */
export const errorResult = ({ id, name }: Call, content: string, metadata: object = {}): WireMessage => ({
  type: 'tool',
  id: uuid7(),
  ...(name !== undefined && { name }),
  content,
  tool_call_id: id,
  status: 'error',
  additional_kwargs: {},
  response_metadata: { ...metadata },
})

const WITHOUT_RESULT = 'The call has no result: it was not executed, or it was interrupted.'

const REMOVE_ALL = '__remove_all__'

/**
 * Results for the open calls at the end of a conversation that a new input continues: after a failure, a lost
 * process, or a question that nobody answered. A provider rejects every later request without them. Calls
 * whose result comes with the input are not among them, and neither are those of a message that the input
 * replaces or removes.
 *
 * @param input The messages of the input, in any form that an agent accepts.
 * @param found Results of finished calls that are not in the conversation yet.
 */
export function missingResults(
  conversation: readonly unknown[],
  callsOf: CallsOf,
  input: unknown,
  found: readonly unknown[] = [],
): readonly unknown[] {
  if (openCalls(conversation, callsOf).length === 0) return []
  // LangGraph's `Overwrite`.
  if (isRecord(input) && '__overwrite__' in input) return []
  const given = [input].flat().map(fieldsOf)
  const changed = new Set(given.flatMap(({ id }) => id ?? []))
  if (changed.has(REMOVE_ALL)) return []
  const kept = conversation.filter((message) => !changed.has(Object(message).id))
  const open = openCalls([...kept, ...given.filter(isResult)], callsOf)
  const results = [...found]
  return open.map((call) => {
    const place = results.findIndex((result) => Object(result).tool_call_id === call.id)
    return place < 0 ? errorResult(call, WITHOUT_RESULT) : results.splice(place, 1)[0]
  })
}

/** The fields of a message that LangChain or a client has serialized, or of the message itself. */
function fieldsOf(message: unknown): StateMessage {
  const outer = Object(message)
  const { id, tool_call_id, toolCallId } = outer.lc === 1 ? Object(outer.kwargs) : Object(outer.data ?? outer)
  return { id, tool_call_id: tool_call_id ?? toolCallId }
}
