import { uuid7 } from '../core/ids.ts'
import type { WireMessage } from '../messages/index.ts'
import { isRecord, itemsOf } from '../messages/record.ts'
import type { CheckpointTuple } from '../storage/checkpointer/checkpointer.ts'

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

/** Metadata of a checkpoint that only adds the output of a cancelled run. */
export const PARTIAL = { agentwire_cancelled: true }

/**
 * The checkpoint before one that only adds the output of a cancelled run: a run without input starts there.
 */
export function beforePartial(tuple: CheckpointTuple | undefined): string | undefined {
  const { metadata, parentConfig } = tuple ?? {}
  const isPartial =
    metadata?.source === 'update' && (metadata as Partial<typeof PARTIAL>).agentwire_cancelled === true
  return isPartial ? (parentConfig?.configurable?.checkpoint_id as string | undefined) : undefined
}

const CANCELLED = 'cancelled'

/** The end of a message that was unfinished when its run was cancelled, on the wire and in the state. */
export const CUT_OFF = { finish_reason: CANCELLED } as const

/**
 * The part of an assistant message that a cancel keeps if no node or function stored it yet: its text.
 * Undefined if there is none. Calls without results and reasoning without signatures are dropped, because a
 * provider would reject them in the next request.
 */
export function partialMessage(
  id: string,
  text: string,
  name: string | undefined,
  isFinished = false,
): WireMessage | undefined {
  if (text === '') return undefined
  // The flat form is written here, because the general message encoder is much larger.
  return {
    type: 'ai',
    id,
    ...(name !== undefined && { name }),
    content: text,
    additional_kwargs: {},
    response_metadata: isFinished ? {} : CUT_OFF,
    tool_calls: [],
    invalid_tool_calls: [],
  }
}

/**
 * Results for the tool calls at the end of a conversation that a cancel left without one. A provider would
 * reject the next request without them. The first argument may be followed by results that it does not
 * include yet.
 */
export const cancelledResults = (
  messages: readonly unknown[],
  callsOf: CallsOf,
  results: readonly unknown[] = [],
): readonly WireMessage[] =>
  openCalls([...messages, ...results], callsOf).map((call) =>
    errorResult(call, 'The call was cancelled before it had a result.', CUT_OFF),
  )

export const isPartial = ({ response_metadata: metadata }: WireMessage): boolean =>
  metadata?.finish_reason === CANCELLED
