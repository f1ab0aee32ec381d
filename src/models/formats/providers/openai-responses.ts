import type { ContentBlock, Message, Usage } from '../../../messages/index.ts'
import type { ModelRequest } from '../format.ts'
import { readBlock, readCitation, toCall, toResult, vocabulary } from '../reading/blocks.ts'
import { defineFormat } from '../reading/define.ts'
import {
  addError,
  addHead,
  addMore,
  addPart,
  addUnknown,
  blocksOf,
  type Choice,
  choiceOf,
  createDraft,
  type Draft,
  finishPart,
} from '../reading/draft.ts'
import { collect, type Fields, fieldsOf, listOf, names, stringOf, toText } from '../reading/fields.ts'
import { createPlaces, type Places } from '../reading/places.ts'
import { contentOf, toRequest } from '../reading/request.ts'
import { laterCounts, toUsage } from '../reading/usage.ts'

/** OpenAI Responses. Each part of an output item becomes a block, in order. */
export const openaiResponses = defineFormat({
  name: 'openaiResponses',
  provider: 'openai',
  detect(value) {
    const { type, object, output, input, message } = fieldsOf(value)
    if (stringOf(type).startsWith('response.') || (type === 'error' && message)) return 'chunk'
    if (object === 'response' || Array.isArray(output)) return 'response'
    return typeof input === 'string' || Array.isArray(input) ? 'request' : undefined
  },
  readRequest,
  open(draft) {
    const reading: Reading = { draft, places: undefined, done: new Set(), counts: undefined }
    return (event) => readEvent(reading, event)
  },
})

interface Reading {
  readonly draft: Draft
  places: Places | undefined
  /** Complete items. They are read once, because servers repeat them and may send late pieces of them. */
  readonly done: Set<number>
  counts: Fields | undefined
}

function readEvent(reading: Reading, event: Fields): void {
  const { draft } = reading
  const { type, item, response } = event
  const name = typeof type === 'string' ? type.slice(9) : undefined
  if (!name || type === 'error') {
    if (type === 'error') addError(draft, event.error ?? { ...event, type: null })
    else if (type) addUnknown(draft, event)
    else {
      addHead(draft, event, RESPONSE)
      readResult(reading, event)
    }
  } else if (response) {
    addHead(draft, fieldsOf(response), RESPONSE)
    if (/^(completed|incomplete|failed|cancelled)$/.test(name)) readResult(reading, fieldsOf(response))
  } else if (item || event.item_id || event.output_index !== undefined || name.endsWith('.delta'))
    readPiece(reading, event, name, placeOfPiece((reading.places ??= createPlaces()), event, name))
  else if (!name.endsWith('.done')) addUnknown(draft, event)
}

function finishItem({ draft, done, places }: Reading, at: number, item: Fields): void {
  if (!done.has(at)) readItem(choiceOf(draft), at, item)
  done.add(at)
  places?.finish(at, groupOf(item.type))
}

function readResult(reading: Reading, response: Fields): void {
  const { draft, places } = reading
  const { status, output, usage, error, incomplete_details: details } = response
  const choice = choiceOf(draft)
  const items = listOf(output)
  const found = places?.placesOf(items.map(idsOf))
  for (const [at, item] of items.entries()) finishItem(reading, found?.[at] ?? at, fieldsOf(item))
  choice.reason = fieldsOf(details).reason ?? (/queued|progress/.test(stringOf(status)) ? undefined : status)
  reading.counts = laterCounts(reading.counts, usage)
  draft.usage = readUsage(reading.counts, response.service_tier)
  if (error) addError(draft, error)
}

function readPiece(reading: Reading, event: Fields, name: string, at: number): void {
  const { draft, done } = reading
  if (done.has(at)) return
  const item = fieldsOf(event.item)
  if (name.endsWith('.delta')) readDelta(choiceOf(draft), at, event, name.slice(0, -6))
  else if (name === 'output_item.done') finishItem(reading, at, item)
  else if (name === 'output_item.added') {
    // A call starts before it is complete, and its arguments follow.
    const choice = choiceOf(draft)
    if (callKindOf(item, choice)) addPart(choice, keyOf(at), readCall(item, choice))
  } else if (name === 'output_text.annotation.added') {
    const annotations = [readCitation(event.annotation)]
    addPart(choiceOf(draft), keyOf(at, undefined, event.content_index ?? 0), {
      type: 'text',
      text: '',
      annotations,
    })
  } else if (name === 'image_generation_call.partial_image') {
    // Each preview replaces the one before, and only the last one of a stream that breaks off is kept.
    const choice = choiceOf(draft)
    const key = keyOf(at, -2)
    addPart(choice, key, { type: 'image', mimeType: mimeTypeOf(event) })
    choice.open!.get(key)!.patch = { base64: event.partial_image_b64 }
  }
}

const RESPONSE = names('id object output output_text tools instructions')
const REQUEST = names('input instructions')
const ITEM = names('type role content')
const CALL = names('type id call_id status error name arguments input')
const OUTPUT = names('type call_id output tools status')

const VOCABULARY = vocabulary(
  {
    text: 'input_text output_text text',
    reasoning: 'summary_text',
    image: 'input_image',
    audio: 'input_audio output_audio',
    file: 'input_file',
    toolCall: 'function_call',
  },
  {
    text: 'refusal',
    url: 'image_url file_url',
    base64: 'data file_data',
    fileId: 'file_id',
  },
  {
    text: 'refusal',
    reasoning: 'reasoning_text',
    image: 'computer_screenshot',
    toolCall: 'custom_tool_call computer_call local_shell_call shell_call apply_patch_call',
    serverToolCall:
      'web_search_call file_search_call code_interpreter_call image_generation_call mcp_call mcp_list_tools tool_search_call x_search_call code_execution_call view_image_call view_x_video_call',
  },
)

const kindOf = (type: unknown) => VOCABULARY.types.get(type) ?? VOCABULARY.keptTypes.get(type)

/** The tools that xAI runs itself, although it calls them like custom tools, for calls without their response. */
const XAI_TOOL =
  /^(x_(user_search|keyword_search|semantic_search|thread_fetch)|view_x_video|view_image|web_search_with_snippets|browse_page)$/

/** A custom tool of xAI's models is always one that xAI runs. */
const isOfXai = (choice: Choice): boolean => /^(xai[/.])?grok-/.test(stringOf(choice.draft.metadata?.model))

/** The kind of a call, which two types of items tell only by another field. */
function callKindOf(
  { type, execution, name }: Fields,
  choice: Choice,
): 'toolCall' | 'serverToolCall' | undefined {
  const kind = kindOf(type)
  const xai = type === 'custom_tool_call' && (XAI_TOOL.test(stringOf(name)) || isOfXai(choice))
  const server = kind === 'serverToolCall' ? execution !== 'client' : xai
  return !kind?.endsWith('Call') ? undefined : server ? 'serverToolCall' : 'toolCall'
}

const readPart = (part: unknown, about?: Fields) => readBlock(part, VOCABULARY, false, about)

/** The field of each item type that holds the result of the call. */
export const RESULT_FIELDS: Readonly<Record<string, string>> = {
  file_search_call: 'results',
  code_interpreter_call: 'outputs',
  image_generation_call: 'result',
  mcp_call: 'output',
  mcp_list_tools: 'tools',
}

/** The block that each kind of delta is a piece of. */
const PIECES: Readonly<Record<string, (delta: string) => ContentBlock>> = {
  output_text: (text) => ({ type: 'text', text }),
  refusal: (text) => ({ type: 'text', text, extras: { type: 'refusal' } }),
  reasoning_summary_text: (text) => ({ type: 'reasoning', text }),
  reasoning_text: (text) => ({ type: 'reasoning', text, extras: { type: 'reasoning_text' } }),
  audio: (base64) => ({ type: 'audio', base64 }),
  'audio.transcript': (transcript) => ({ type: 'audio', extras: { transcript } }),
}

/** The arguments that each kind of delta is a piece of, where they are streamed as text and not as JSON. */
const ARGS: Readonly<Record<string, (delta: string, event: Fields) => Fields>> = {
  custom_tool_call_input: (input) => ({ input }),
  code_interpreter_call_code: (code) => ({ code }),
  apply_patch_call_operation_diff: (diff) => ({ operation: { diff } }),
  shell_call_command: (command, { command_index: index }) => ({ action: { commands: [{ index, command }] } }),
}

const mimeTypeOf = ({ output_format: format }: Fields): string => `image/${stringOf(format) || 'png'}`

function readDelta(choice: Choice, at: number, event: Fields, name: string): void {
  const { summary_index: summary, content_index: content } = event
  const delta = toText(event.delta)
  const piece = Object.hasOwn(PIECES, name) ? PIECES[name]!(delta) : undefined
  if (piece && name.startsWith('audio')) addPart(choice, name.slice(0, 5), piece)
  else if (piece && name === 'reasoning_summary_text') addPart(choice, keyOf(at, summary ?? 0), piece)
  else if (piece) addPart(choice, keyOf(at, undefined, content ?? 0), piece)
  else if (Object.hasOwn(ARGS, name)) {
    const type =
      choice.open?.get(keyOf(at))?.type ?? (name.startsWith('code') ? 'serverToolCall' : 'toolCall')
    addPart(choice, keyOf(at), { type, name: '', args: ARGS[name]!(delta, event) } as ContentBlock)
  } else if (name.endsWith('_arguments')) addMore(choice, keyOf(at), delta)
}

/** The ids of an item, of which its pieces name one. */
const idsOf = (item: unknown): readonly unknown[] => [fieldsOf(item).id, fieldsOf(item).call_id]

/** llama.cpp numbers no item, and its pieces name a call by its `call_id`. */
function placeOfPiece(places: Places, { output_index: index, item_id, item }: Fields, name: string): number {
  if (item) return places.placeOf(index, idsOf(item), groupOf(fieldsOf(item).type))
  return typeof index === 'number' ? index : places.placeOf(index, [item_id], groupOfEvent(name))
}

/** Items without ids and numbers are told apart by this. */
const groupOf = (type: unknown): string => (type === 'message' || type === 'reasoning' ? type : 'call')

const groupOfEvent = (name: string): string =>
  name.startsWith('reasoning')
    ? 'reasoning'
    : /^(output_text|refusal|content_part)/.test(name)
      ? 'message'
      : 'call'

/** The key of an item, of one of its parts, or of its result. */
const keyOf = (at: unknown, summary?: unknown, content: unknown = -1): unknown =>
  1e6 * placeOf(at) + (summary === undefined ? placeOf(content) : 5e5 + placeOf(summary))

const placeOf = (index: unknown): number => (typeof index === 'number' ? index + 1 : 0)

/** The result in an item, and the id of its call, which a search for tools by OpenAI itself lacks. */
function resultOf({ type, id, call_id, output, tools, execution }: Fields): Fields | undefined {
  if (type === 'tool_search_output')
    return { callId: execution === 'server' ? undefined : call_id, said: tools }
  const callId = call_id ?? (type === 'local_shell_call_output' ? id : undefined)
  return callId && output !== undefined ? { callId, said: output } : undefined
}

/** The search for tools by OpenAI that has a result. If neither has the id of a call, the order tells. */
const searchOf = (choice: Choice, callId: unknown): unknown =>
  blocksOf(choice).findLast((block) => {
    const { name, extras } = block as Fields
    return name === 'tool_search' && (!callId || fieldsOf(extras).call_id === callId)
  })?.id ?? callId

export function readItem(choice: Choice, at: unknown, item: Fields): void {
  const { type, id, status, phase, content, summary, encrypted_content, error } = item
  const answer = resultOf(item)
  const add = (block: ContentBlock, summary?: number, content?: number) =>
    void finishPart(choice, keyOf(at, summary, content), block)
  if (type === 'message' || (!type && item.role)) {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
    for (const [index, part] of parts.entries()) add(readPart(part, { id, phase }), undefined, index)
  } else if (type === 'reasoning') {
    let about: Fields = { id, encrypted_content }
    const addReasoning = (part: unknown, summary?: number, content?: number) => {
      add(readPart(part, about), summary, content)
      about = { id }
    }
    for (const [index, part] of listOf(summary).entries()) addReasoning(part, index)
    for (const [index, part] of listOf(content).entries()) addReasoning(part, undefined, index)
    if (listOf(summary).length + listOf(content).length === 0) addReasoning({ type: 'summary_text' }, 0)
  } else if (callKindOf(item, choice)) {
    const call = readCall(item, choice)
    add(call)
    const result = error ?? item[RESULT_FIELDS[stringOf(type)] ?? '']
    const failed = error || status === 'failed'
    if (type === 'image_generation_call' && result)
      add({ type: 'image', base64: toText(result), mimeType: mimeTypeOf(item) }, -2)
    else if (failed || (result !== undefined && result !== null)) add(toResult(call.id, failed, result), -2)
  } else if (answer) {
    const callId = answer.callId ?? searchOf(choice, item.call_id)
    const extras = collect({ type }, item, OUTPUT)!
    if (!answer.callId && item.call_id) extras.call_id = item.call_id
    add(toResult(callId, false, answer.said, extras))
  } else add({ type: 'nonStandard', value: item })
}

/** Reads a call of any type. An item without `name` and `arguments` has its arguments as fields. */
function readCall(item: Fields, choice: Choice): ContentBlock {
  const { id, call_id, name, arguments: given, input } = item
  const type = stringOf(item.type)
  const server = callKindOf(item, choice) === 'serverToolCall'
  const own = name === undefined && given === undefined
  const others = collect({}, item, CALL)!
  delete others[RESULT_FIELDS[type] ?? '']
  const extras: Record<string, unknown> = own ? {} : others
  if (!server && id) extras.item_id = id
  // Results of provider-side tools name the item. Their own call id is kept too.
  if (server && call_id) extras.call_id = call_id
  if (type !== 'function_call') extras.type = type
  return toCall(
    server ? 'serverToolCall' : 'toolCall',
    server ? id : call_id,
    name ?? type.replace(/_call$/, ''),
    own ? others : (given ?? { input }),
    Object.keys(extras).length > 0 ? extras : undefined,
  )
}

function readRequest(request: unknown): ModelRequest {
  const fields = fieldsOf(request)
  const { input, instructions } = fields
  const messages: Message[] = []
  /** The current message of the model: its consecutive items are one message. */
  let turn: Choice | undefined
  const add = (message: Message) => {
    turn = undefined
    messages.push(message)
  }
  if (instructions) add({ role: 'system', content: contentOf(instructions, readPart) })
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  for (const [at, value] of listOf(items).entries()) {
    const item = fieldsOf(value)
    const { type, role, content } = item
    const answer = resultOf(item)
    if (answer?.callId) {
      const extras = collect(type === 'function_call_output' ? undefined : { type }, item, OUTPUT)
      add({
        role: 'tool',
        content: contentOf(answer.said, readPart),
        toolCallId: toText(answer.callId),
        ...(extras && { extras }),
      })
    } else if (role && role !== 'assistant') {
      const known = role === 'system' || role === 'developer' ? 'system' : 'user'
      const extras = collect(known === role ? undefined : { role }, item, ITEM)
      add({ role: known, content: contentOf(content, readPart), ...(extras && { extras }) })
    } else if (value !== item || stringOf(type).endsWith('_response'))
      add({ role: 'user', content: [readPart(value)] })
    else {
      if (!turn) {
        turn = choiceOf(createDraft(true))
        messages.push({ role: 'assistant', content: turn.content })
      }
      readItem(turn, at, item)
    }
  }
  return toRequest(fields, REQUEST, messages, items, 'input')
}

function readUsage(usage: Fields, tier: unknown): Usage | undefined {
  if (usage.input_tokens === undefined && usage.output_tokens === undefined) return undefined
  const input = fieldsOf(usage.input_tokens_details)
  return toUsage(
    usage.input_tokens,
    usage.output_tokens,
    { cache_read: input.cached_tokens, cache_creation: input.cache_write_tokens },
    { reasoning: fieldsOf(usage.output_tokens_details).reasoning_tokens },
    tier,
    usage,
  )
}
