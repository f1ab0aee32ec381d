import type {
  Annotation,
  Citation,
  ContentBlock,
  InvalidToolCallBlock,
  Message,
  Role,
  Usage,
} from '../../../../messages/index.ts'
import { isRecord } from '../../../../messages/record.ts'
import { countOf } from '../../../../messages/usage.ts'
import { byWireName, collect, type Fields, fieldsOf, listOf, names, stringOf, toText } from '../../fields.ts'
import { readBlock, readCitation, toResult, vocabulary } from '../../reading/blocks.ts'
import type { CallKey } from '../../reading/calls.ts'
import { addMore, addPart, type Choice, finishPart } from '../../reading/draft.ts'
import { cacheWrites, sumOf, toUsage } from '../../reading/usage.ts'
import { addToolOutputs, finishThoughts, partsOf, readToolOutputs, thoughtsOf } from './additional-kwargs.ts'

/**
 * Reads messages with blocks of the platform, of LangChain in JavaScript or Python, or of the provider,
 * because LangChain leaves some blocks unchanged.
 */

const VOCABULARY = vocabulary(
  {
    text: 'text',
    reasoning: 'reasoning thinking reasoning_content',
    image: 'image image_url',
    audio: 'audio input_audio',
    video: 'video video_url',
    file: 'file document',
    toolCall: 'tool_call tool_call_chunk tool_use function_call',
    serverToolCall: 'server_tool_call server_tool_call_chunk server_tool_use',
  },
  {
    text: 'reasoning thinking summary refusal',
    annotations: 'citations',
    url: 'image_url video_url',
    base64: 'data file_data',
    fileId: 'file_id',
    mimeType: 'mime_type media_type',
    args: 'input arguments',
  },
  { text: 'refusal', reasoning: 'redacted_thinking', serverToolCall: 'mcp_tool_use' },
)

const RESULT = names('type id index tool_call_id toolCallId tool_use_id status output content is_error')

const isCall = (type: unknown): boolean => /toolcall$/i.test(stringOf(type))

/** Reads a block of a message. The `index`, by which LangChain merges pieces, is dropped. */
export function readAnyBlock(value: unknown, partial?: boolean): ContentBlock {
  const { extras: nested, annotations, index: _, ...wire } = fieldsOf(value)
  const { type, id, call_id: callId, reasoningText } = wire
  const { non_standard, ...extras } = { ...fieldsOf(nested) } as Record<string, unknown>
  const foreign = type === 'non_standard' ? wire.value : non_standard
  if (foreign !== undefined) return { type: 'nonStandard', value: foreign }
  if (type === 'invalid_tool_call') return readInvalid(wire)
  if (/^server_tool_(call_)?result$|_tool_result$/.test(stringOf(type))) return readResult(wire, extras)
  // A document of plain text or of blocks is not a media block.
  if (!isRecord(value) || /^(text|content)$/.test(stringOf(fieldsOf(wire.source).type)))
    return readBlock(value, VOCABULARY)
  const fields = callId
    ? { ...wire, id: callId, call_id: null, item_id: id }
    : reasoningText
      ? { ...wire, reasoningText: null, ...fieldsOf(reasoningText) }
      : wire
  const block: Record<string, unknown> = { ...readBlock(fields, VOCABULARY, partial) }
  if (block.type === 'nonStandard') return { type: block.type, value }
  if (isRecord(extras.invalid) && isCall(block.type))
    return readInvalid({ ...wire, ...extras, ...extras.invalid })
  if (block.type === 'text' && Array.isArray(annotations)) block.annotations = annotations.map(readAnnotation)
  else if (annotations) extras.annotations = annotations
  // The platform refers to stored files by `id`, and keeps the id of the block in `extras`.
  if (id && lacksSource(block)) {
    block.fileId = id
    delete block.id
  }
  if (!block.id && typeof extras.id === 'string') {
    block.id = extras.id
    delete extras.id
  }
  const all = nonEmpty({ ...fieldsOf(block.extras), ...extras })
  return collect(block, { extras: all }) as unknown as ContentBlock
}

const lacksSource = ({ type, url, base64, fileId }: Fields): boolean =>
  /^(image|audio|video|file)$/.test(stringOf(type)) && !url && !base64 && !fileId

const nonEmpty = (extras: Fields): Fields | undefined => (Object.keys(extras).length > 0 ? extras : undefined)

function readAnnotation(value: unknown): Annotation {
  const { extras, ...wire } = fieldsOf(value)
  if (wire.type === 'non_standard_annotation') return { type: 'nonStandard', value: wire.value }
  const type = wire.type === 'citation' ? undefined : wire.type
  const citation = readCitation(isRecord(value) ? { ...wire, type, ...fieldsOf(extras) } : value) as Citation
  const more = nonEmpty(collect({}, fieldsOf(citation.extras))!)
  return collect({}, { ...citation, extras: more }) as unknown as Annotation
}

function readInvalid({ type, id, name, args, error, invalid, ...others }: Fields): ContentBlock {
  const extras = invalid && nonEmpty(type === 'server_tool_call' ? { ...others, server: true } : others)
  const call = collect({ type: 'invalidToolCall' }, { id: toText(id), name: toText(name), extras })
  return { ...call, args: toText(args), error: toText(error) } as InvalidToolCallBlock
}

function readResult(wire: Fields, nested: Fields): ContentBlock {
  const {
    type,
    id,
    tool_call_id,
    toolCallId = tool_call_id ?? wire.tool_use_id,
    output = wire.content,
  } = wire
  const failed = wire.status === 'error' || wire.is_error || /_error$/.test(stringOf(fieldsOf(output).type))
  const own = /^server_/.test(stringOf(type))
  const extras = nonEmpty({ ...collect(own ? {} : { type }, wire, RESULT), ...nested })
  const result = toResult(toolCallId, failed, output, extras)
  const ownId = own && toText(id)
  return ownId ? { ...result, id: ownId } : result
}

export function readContent(message: Fields): ContentBlock[] {
  const calls = callsOf(message)
  const thought = thoughtOf(message)
  let blocks: ContentBlock[] = thought ? [{ type: 'reasoning', text: thought }] : []
  let before = false
  for (const part of partsOf(message)) {
    const block = readAnyBlock(part)
    const last = blocks.at(-1)
    // Merged chunks have each piece of a text as a part without an index.
    const piece =
      !!message.tool_call_chunks && block.type === 'text' && Object.keys(fieldsOf(part)).length === 2
    if (piece && before && last?.type === 'text')
      blocks[blocks.length - 1] = { ...last, text: last.text + block.text }
    else blocks.push(block)
    before = piece
  }
  // Provider-side tools run between the reasoning and the answer.
  const answer = blocks.findIndex(({ type }) => type !== 'reasoning')
  const outputs = readToolOutputs(message, calls)
  const place = answer < 0 ? blocks.length : answer
  if (outputs.length > 0) blocks = [...blocks.slice(0, place), ...outputs, ...blocks.slice(place)]
  const refusal = refusalOf(message)
  if (refusal && !blocks.some(isRefusal)) blocks.push(readAnyBlock({ type: 'refusal', refusal }))
  if (calls.length === 0) return blocks
  const places = new Map<string, number>()
  for (const [at, block] of blocks.entries()) {
    const key = isCall(block.type) ? keyOf(block) : undefined
    if (key !== undefined && !places.has(key)) places.set(key, at)
  }
  for (const call of calls) {
    // The content repeats the calls. If LangChain completed cut-off arguments, the invalid call replaces it.
    const at = places.get(keyOf(call))
    if (at === undefined) places.set(keyOf(call), blocks.push(call) - 1)
    else if (call.type === 'invalidToolCall') blocks[at] = call
  }
  return blocks
}

/** Reads a message of a stream, which has pieces of blocks. */
export function addPieces(choice: Choice, message: Fields, callKey: CallKey): void {
  const { content } = message
  const chunks = listOf(message.tool_call_chunks)
  const refusal = refusalOf(message)
  const thought = thoughtOf(message)
  if (thought) addPart(choice, 'reasoning', { type: 'reasoning', text: thought })
  finishThoughts(choice, message)
  if (typeof content === 'string') {
    for (const part of thoughtsOf(message)) addPiece(choice, part)
    if (content) addPart(choice, 'text', { type: 'text', text: content })
  } else
    for (const part of partsOf(message))
      if (chunks.length === 0 || !CALL_PIECES.has(stringOf(fieldsOf(part).type))) addPiece(choice, part)
  if (refusal) addPart(choice, 'refusal', readAnyBlock({ type: 'refusal', refusal }))
  for (const [place, value] of chunks.entries()) {
    const { index, id, name, args } = fieldsOf(value)
    const at = `at ${index}`
    // The content has started the calls that the provider runs, and their arguments follow in the chunks.
    if (choice.open?.get(at)?.type === 'serverToolCall') addMore(choice, at, stringOf(args))
    else {
      const key = callKey(index, stringOf(id), name, args, place)
      const about = { type: 'tool_call', id: key.id, name: key.name }
      addPart(choice, key, readAnyBlock(about), stringOf(args))
    }
  }
  const calls = chunks.length === 0 ? callsOf(message) : []
  if (calls.length > 0) {
    const started = startedCalls(choice)
    for (const call of calls) if (!call.id || !started.has(call.id)) finishPart(choice, call.id ?? call, call)
  }
  addToolOutputs(choice, message)
}

const CALL_PIECES = names('tool_call tool_call_chunk tool_use function_call input_json_delta')

/** The ids of the calls that already have a block, because the content repeats the calls. */
const startedCalls = ({ slots }: Choice): ReadonlySet<unknown> =>
  new Set(slots.filter(({ start }) => isCall(start.type)).map(({ start }) => start.id))

function addPiece(choice: Choice, value: unknown): void {
  const part = fieldsOf(value)
  const { index, type } = part
  const block = readAnyBlock(value, true)
  const { text } = block as { text?: string }
  const own = text === undefined || part.redactedContent
  const key = index !== undefined && index !== null ? `at ${index}` : own ? part : undefined
  const args = part.args ?? part.input ?? part.partial_json
  if (type === 'input_json_delta') addMore(choice, key, stringOf(args))
  else if (typeof args === 'string' && isCall(block.type))
    addPart(choice, key, { ...block, args: {} } as ContentBlock, args)
  else addPart(choice, key, block)
}

function thoughtOf({ reasoning_content, reasoning, additional_kwargs }: Fields): string {
  const more = fieldsOf(additional_kwargs)
  return stringOf(reasoning_content ?? more.reasoning_content ?? reasoning ?? more.reasoning)
}

const refusalOf = ({ refusal, additional_kwargs }: Fields): unknown =>
  refusal ?? fieldsOf(additional_kwargs).refusal

const isRefusal = ({ extras }: ContentBlock): boolean => extras?.type === 'refusal'

/**
 * The tool calls outside the content, in LangChain's shape or OpenAI's. Raw chunks come first, because
 * LangChain completes truncated arguments when it parses them.
 */
function callsOf(message: Fields): ContentBlock[] {
  const { tool_call_chunks, tool_calls, invalid_tool_calls } = message
  const chunks = listOf(tool_call_chunks)
  const calls = listOf(tool_calls)
  const invalid = chunks.length > 0 ? [] : listOf(invalid_tool_calls)
  const raw =
    calls.length + invalid.length > 0 ? calls : listOf(fieldsOf(message.additional_kwargs).tool_calls)
  return [
    ...(chunks.length > 0 ? chunks : raw).map((value) => {
      const { function: called, index: _, type: __, ...call } = fieldsOf(value)
      return readAnyBlock({ ...call, ...fieldsOf(called), type: 'tool_call' })
    }),
    ...invalid.map((value) => readAnyBlock({ ...fieldsOf(value), type: 'invalid_tool_call' })),
  ]
}

/** What tells one call from another: its id or, without one, all of it. */
const keyOf = (call: ContentBlock): string => (call.id === undefined ? JSON.stringify(call) : ` ${call.id}`)

/** The fields of a message that are read here, and the internal ones of LangChain's objects. */
export const MESSAGE = names(
  'type role id name content content_blocks additional_kwargs response_metadata reasoning_content reasoning refusal tool_calls invalid_tool_calls tool_call_chunks usage_metadata tool_call_id toolCallId status extras lc lc_serializable lc_kwargs lc_namespace lc_direct_tool_output kwargs example',
)
/** The fields of `additional_kwargs` that are read as blocks. */
export const REPEATED = names('tool_calls function_call reasoning_content refusal reasoning tool_outputs')

const SPEAKERS = byWireName<Role>({
  system: 'system developer SystemMessage SystemMessageChunk',
  user: 'user human HumanMessage HumanMessageChunk',
  assistant: 'assistant model ai AIMessage AIMessageChunk',
  tool: 'tool function ToolMessage ToolMessageChunk FunctionMessage FunctionMessageChunk',
  reasoning: 'reasoning',
})

/** The role of a message, by its `role` or the name of its LangChain class. */
export const speakerOf = ({ role, type }: Fields): Role | undefined => SPEAKERS.get(role || type)

export function readAnyMessage(value: unknown): Message {
  const message = unwrapMessage(value)
  const { id, name, tool_call_id, toolCallId = tool_call_id, status, additional_kwargs } = message
  const role = speakerOf(message) ?? 'user'
  const others = { ...message, ...fieldsOf(message.extras) }
  const about = {
    id: toText(id),
    name: toText(name),
    toolCallId: role === 'tool' ? toText(toolCallId) : undefined,
    status: status === 'error' || status === 'success' ? status : undefined,
    usage: readCounts(message.usage_metadata),
    metadata: nonEmpty(fieldsOf(message.response_metadata)),
    extras: collect(collect(undefined, fieldsOf(additional_kwargs), REPEATED), others, MESSAGE),
  }
  return collect({ role, content: readContent(message) }, about) as unknown as Message
}

/** The fields of a message that is a text, a `[role, content]` pair, or in one of the forms of LangChain. */
export function unwrapMessage(value: unknown): Fields {
  if (typeof value === 'string') return { role: 'user', content: value }
  if (Array.isArray(value)) return { role: value[0], content: value[1] }
  const message = fieldsOf(value)
  const { lc, kwargs, id, type, data, content } = message
  if (lc === 1 && isRecord(kwargs)) return { ...kwargs, type: Array.isArray(id) ? id.at(-1) : type }
  return isRecord(data) && content === undefined ? { ...data, type } : message
}

const COUNTS = byWireName({
  input: 'input_tokens inputTokens prompt_tokens promptTokens',
  output: 'output_tokens outputTokens completion_tokens completionTokens',
  inputCost: 'input_cost',
  outputCost: 'output_cost',
  totalCost: 'total_cost',
  inputCostDetails: 'input_cost_details',
  outputCostDetails: 'output_cost_details',
})

/** Reads `usage_metadata` or counts under other names. Corrects repeated counts and incomplete totals. */
export function readCounts(raw: unknown): Usage | undefined {
  if (!isRecord(raw)) return undefined
  const counts: { [Meaning in string]?: unknown } = {}
  for (const key in raw) {
    const meaning = COUNTS.get(key)
    if (meaning && (typeof raw[key] === 'number' || isRecord(raw[key]))) counts[meaning] ??= raw[key]
  }
  if (!nonEmpty(counts)) return undefined
  const { input, output, ...costs } = counts
  const { cache_read, cache_creation, text, ...others } = fieldsOf(raw.input_token_details)
  const { text: words, ...details } = fieldsOf(raw.output_token_details)
  const writes = cacheWrites(cache_creation, others)
  const [total, cached] = [countOf(input), countOf(cache_read) + sumOf(writes)]
  return {
    ...toUsage(
      total + (cached > total ? cached : 0),
      output,
      { cache_read, ...writes, ...others, text },
      { ...details, text: words },
    ),
    ...costs,
  }
}
