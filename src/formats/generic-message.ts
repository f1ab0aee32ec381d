import type { Annotation, ContentBlock, InvalidToolCallBlock, Message, Usage } from '../messages/index.ts'
import { isRecord } from '../messages/record.ts'
import { decodeUsage } from '../messages/wire/usage.ts'
import { readBlock, readCitation, type Words } from './blocks.ts'
import type { CallKey } from './call-keys.ts'
import { addMore, addPart, type Choice, finishPart } from './draft.ts'
import { collect, type Fields, fieldsOf, listOf, meanings, names, stringOf, toText } from './fields.ts'
import { roleOf } from './request.ts'
import { countOf, toUsage } from './usage.ts'

/*
 * Messages whose blocks are the platform's own, or those of LangChain in JavaScript or Python, with blocks of providers among
 * them as LangChain leaves them.
 */

const WORDS: Words = {
  types: meanings({
    text: 'text input_text output_text !refusal',
    reasoning: 'reasoning thinking !redacted_thinking',
    image: 'image image_url input_image',
    audio: 'audio input_audio',
    video: 'video video_url',
    file: 'file document input_file',
    toolCall: 'tool_call tool_call_chunk tool_use function_call',
    serverToolCall: 'server_tool_call server_tool_call_chunk server_tool_use !mcp_tool_use',
  }),
  fields: meanings({
    text: 'reasoning thinking summary refusal',
    annotations: 'citations',
    url: 'image_url video_url file_url',
    base64: 'data file_data',
    fileId: 'file_id',
    mimeType: 'mime_type media_type',
    args: 'input arguments',
  }),
}

const RESULT = names('type index tool_call_id toolCallId tool_use_id status output content is_error')

/** Reads a block of a message. The `index` by which LangChain merges its pieces says nothing more. */
export function readAnyBlock(value: unknown, partial?: boolean): ContentBlock {
  const { extras: nested, annotations, index: _, ...wire } = fieldsOf(value)
  const type = stringOf(wire.type)
  if (type === 'non_standard') return { type: 'nonStandard', value: wire.value }
  const { non_standard: foreign } = fieldsOf(nested)
  if (foreign !== undefined) return { type: 'nonStandard', value: foreign }
  if (type === 'invalid_tool_call') return readInvalid(wire)
  if (/^server_tool_(call_)?result$|_tool_result$/.test(type)) return readResult(wire, nested)
  // Documents of plain text, or of blocks: no media.
  if (!isRecord(value) || /^(text|content)$/.test(stringOf(fieldsOf(wire.source).type)))
    return readBlock(value, WORDS)
  const { call_id: callId, id } = wire
  const block: Record<string, unknown> = {
    ...readBlock(callId ? { ...wire, id: callId, call_id: null, item_id: id } : wire, WORDS, partial),
  }
  if (block.type === 'nonStandard') return { type: 'nonStandard', value }
  if (block.type === 'text' && Array.isArray(annotations) && annotations.length > 0)
    block.annotations = annotations.map(readAnnotation)
  else if (annotations) block.extras = { ...fieldsOf(block.extras), annotations }
  if (isRecord(nested)) {
    const { id: own, invalid, ...others } = nested
    if (isRecord(invalid) && /ToolCall$|^toolCall$/.test(String(block.type)))
      return readInvalid({ ...wire, ...invalid }, others)
    block.extras = { ...fieldsOf(block.extras), ...others }
    if (typeof own === 'string') block.id ??= own
    if (Object.keys(block.extras as Fields).length === 0) delete block.extras
  } else if (nested) block.extras = { ...fieldsOf(block.extras), extras: nested }
  // The platform refers to stored files by `id`.
  if (wire.id && /^(image|audio|video|file)$/.test(type) && !block.url && !block.base64 && !block.fileId) {
    block.fileId = block.id
    if (isRecord(nested) && typeof nested.id === 'string') block.id = nested.id
    else delete block.id
  }
  return block as unknown as ContentBlock
}

function readAnnotation(value: unknown): Annotation {
  const { extras, ...wire } = fieldsOf(value)
  if (wire.type === 'non_standard_annotation') return { type: 'nonStandard', value: wire.value }
  const type = wire.type === 'citation' ? undefined : wire.type
  return isRecord(value) ? readCitation({ ...wire, type, ...fieldsOf(extras) }) : readCitation(value)
}

function readInvalid({ type, id, name, args, error }: Fields, about: Fields = {}): InvalidToolCallBlock {
  const extras = type === 'server_tool_call' ? { ...about, server: true } : about
  return {
    type: 'invalidToolCall',
    ...(id ? { id: toText(id) } : undefined),
    ...(name ? { name: toText(name) } : undefined),
    args: toText(args),
    error: toText(error),
    ...(Object.keys(extras).length > 0 && { extras }),
  }
}

function readResult(wire: Fields, nested: unknown): ContentBlock {
  const { type, id, tool_call_id, toolCallId = tool_call_id, output = wire.content, status } = wire
  const failed = status === 'error' || wire.is_error || stringOf(fieldsOf(output).type).endsWith('_error')
  const native = !stringOf(type).startsWith('server_')
  const known = {
    ...collect(native ? { type } : {}, wire, native ? RESULT : RESULT_OWN),
    ...fieldsOf(nested),
  }
  return {
    type: 'serverToolResult',
    ...(id && !native ? { id: toText(id) } : undefined),
    toolCallId: toText(toolCallId ?? wire.tool_use_id),
    status: failed ? 'error' : 'success',
    ...(output !== undefined && { output }),
    ...(Object.keys(known).length > 0 && { extras: known }),
  }
}

const RESULT_OWN = new Set([...RESULT, 'id'])

/** All blocks of a message that is whole. */
export function readContent(message: Fields): ContentBlock[] {
  const content = message.content ?? message.content_blocks
  const thought = thoughtOf(message)
  const blocks: ContentBlock[] = thought ? [{ type: 'reasoning', text: thought }] : []
  if (typeof content === 'string') {
    if (content) blocks.push({ type: 'text', text: content })
  } else if (content)
    for (const part of Array.isArray(content) ? content : [content]) blocks.push(readAnyBlock(part))
  if (message.refusal) blocks.push(readAnyBlock({ type: 'refusal', refusal: message.refusal }))
  for (const call of callsOf(message)) {
    // Standard content repeats the calls, and so do blocks of the provider. Arguments that were cut off are not repaired.
    const at = blocks.findIndex((block) => isSameCall(block, call))
    if (at < 0) blocks.push(call)
    else if (call.type === 'invalidToolCall') blocks[at] = call
  }
  return blocks
}

/** A message of a stream: pieces of its blocks. */
export function addPieces(choice: Choice, message: Fields, callKey: CallKey): void {
  const { content, refusal } = message
  const chunks = listOf(message.tool_call_chunks)
  const thought = thoughtOf(message)
  if (thought) addPart(choice, 'reasoning', { type: 'reasoning', text: thought })
  if (typeof content === 'string') {
    if (content) addPart(choice, 'text', { type: 'text', text: content })
  } else if (content)
    for (const part of Array.isArray(content) ? content : [content])
      if (chunks.length === 0 || !CALL_PIECES.has(stringOf(fieldsOf(part).type))) addPiece(choice, part)
  if (refusal) addPart(choice, 'refusal', readAnyBlock({ type: 'refusal', refusal }))
  for (const value of chunks) {
    const { index, id, name, args } = fieldsOf(value)
    const at = `at ${index}`
    // Calls that the provider runs have their block in the content; their arguments come like all others.
    if (choice.open?.get(at)?.type === 'serverToolCall') addMore(choice, at, stringOf(args), {})
    else {
      const key = callKey(index ?? undefined, stringOf(id), stringOf(name))
      addPart(choice, key, readAnyBlock({ type: 'tool_call', id, name }), stringOf(args))
    }
  }
  if (chunks.length === 0)
    for (const call of callsOf(message)) if (!shown(choice, call)) finishPart(choice, call.id ?? call, call)
}

const CALL_PIECES = names('tool_call tool_call_chunk tool_use function_call input_json_delta')

/** Whether a call has a block already: content repeats the calls. */
const shown = (choice: Choice, { id }: ContentBlock): boolean =>
  !!id && choice.slots.some(({ start }) => start.id === id && /toolcall/i.test(stringOf(start.type)))

function addPiece(choice: Choice, value: unknown): void {
  const part = fieldsOf(value)
  const { index, type } = part
  const block = readAnyBlock(value, true)
  const { text } = block as { text?: string }
  const key = index !== undefined && index !== null ? `at ${index}` : text === undefined ? part : undefined
  const args = part.args ?? part.input ?? part.partial_json
  if (type === 'input_json_delta') addMore(choice, key, stringOf(args), {})
  else if (typeof args === 'string' && /ToolCall$|^toolCall$/.test(block.type))
    addPart(choice, key, { ...block, args: {} } as ContentBlock, args)
  else addPart(choice, key, block)
}

const thoughtOf = ({ reasoning_content, reasoning, additional_kwargs }: Fields): string =>
  stringOf(reasoning_content ?? fieldsOf(additional_kwargs).reasoning_content ?? reasoning)

/** The calls beside the content, in LangChain's shape or OpenAI's. Raw arguments come first: LangChain completes those it parses. */
function callsOf(message: Fields): ContentBlock[] {
  const chunks = listOf(message.tool_call_chunks)
  const calls = listOf(message.tool_calls)
  const invalid = chunks.length > 0 ? [] : listOf(message.invalid_tool_calls)
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

const isSameCall = (block: ContentBlock, call: ContentBlock): boolean =>
  /toolcall/i.test(block.type) &&
  (call.id !== undefined || block.id !== undefined
    ? block.id === call.id
    : JSON.stringify(block) === JSON.stringify(call))

/** Of a message: what is read from it, and what LangChain's objects keep for themselves. */
export const MESSAGE = names(
  'type role id name content content_blocks additional_kwargs response_metadata reasoning_content reasoning refusal tool_calls invalid_tool_calls tool_call_chunks usage_metadata tool_call_id toolCallId status extras lc lc_serializable lc_kwargs lc_namespace lc_direct_tool_output kwargs example',
)
/** What `additional_kwargs` repeats of the message. */
export const REPEATED = names('tool_calls function_call reasoning_content')

const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' }

/** The word for who speaks: a role, or what LangChain calls the class of the message. */
export function speakerOf({ role, type }: Fields): string {
  const word =
    stringOf(role) ||
    stringOf(type)
      .replace(/Message(Chunk)?$/, '')
      .toLowerCase()
  return Object.hasOwn(ROLES, word) ? ROLES[word]! : word
}

/** Reads a message of the input. */
export function readAnyMessage(value: unknown): Message {
  const message = unwrapMessage(value)
  const { id, name, tool_call_id, toolCallId = tool_call_id, status } = message
  const role = roleOf(speakerOf(message))
  const usage = readCounts(message.usage_metadata)
  const metadata = collect(undefined, fieldsOf(message.response_metadata), NONE)
  const others = { ...message, ...fieldsOf(message.extras) }
  const extras = collect(collect(undefined, fieldsOf(message.additional_kwargs), REPEATED), others, MESSAGE)
  return {
    role,
    ...(id ? { id: toText(id) } : undefined),
    ...(name ? { name: toText(name) } : undefined),
    content: readContent(message),
    ...(toolCallId && role === 'tool' ? { toolCallId: toText(toolCallId) } : undefined),
    ...(status === 'error' || status === 'success' ? { status } : undefined),
    ...(usage && { usage }),
    ...(metadata && { metadata }),
    ...(extras && { extras }),
  }
}

const NONE: ReadonlySet<string> = new Set()

/** The fields of a message, from a text, a pair of role and content, or one of the forms that LangChain writes messages in. */
export function unwrapMessage(value: unknown): Fields {
  if (typeof value === 'string') return { role: 'user', content: value }
  if (Array.isArray(value)) return { role: value[0], content: value[1] }
  const message = fieldsOf(value)
  const { lc, kwargs, id, type, data, content } = message
  if (lc === 1 && isRecord(kwargs)) return { ...kwargs, type: Array.isArray(id) ? id.at(-1) : type }
  return isRecord(data) && content === undefined ? { ...data, type } : message
}

/** Reads `usage_metadata`, or counts under other names. What is counted twice, or left out of the totals, is put right. */
export function readCounts(raw: unknown): Usage | undefined {
  const counts = fieldsOf(raw)
  const { prompt_tokens, promptTokens = prompt_tokens, inputTokens = promptTokens } = counts
  const {
    completion_tokens,
    completionTokens = completion_tokens,
    outputTokens: out = completionTokens,
  } = counts
  const { input_tokens = inputTokens, output_tokens = out } = counts
  if (input_tokens === undefined && output_tokens === undefined && counts.total_cost === undefined)
    return undefined
  const usage = decodeUsage({ ...counts, input_tokens, output_tokens })!
  const { inputTokens: known, outputTokens, totalTokens: _, inputDetails, outputDetails, ...costs } = usage
  const { cache_read, cache_creation, text, ...others } = inputDetails ?? {}
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = others
  const written = Math.max(countOf(cache_creation), countOf(short) + countOf(long))
  const cached = countOf(cache_read) + written
  const input = countOf(known)
  const { text: words, ...output } = outputDetails ?? {}
  return {
    ...toUsage(
      input + (cached > input ? cached : 0),
      countOf(outputTokens),
      {
        cache_read,
        ephemeral_5m_input_tokens: short,
        ephemeral_1h_input_tokens: long,
        cache_creation: written - countOf(short) - countOf(long),
        ...others,
        text,
      },
      { ...output, text: words },
    ),
    ...costs,
  }
}
