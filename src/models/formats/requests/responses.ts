import type { Annotation, ContentBlock, MediaBlock, Message, ToolCallBlock } from '../../../messages/index.ts'
import { RESULT_FIELDS } from '../providers/openai-responses.ts'
import { fieldsOf, listOf, toText } from '../reading/fields.ts'
import { dropUndefined, writeCitation } from '../writing/fields.ts'
import { isPdf, isPicture, isWeb, mimeTypeOf, nameOf } from './media.ts'
import {
  type Item,
  isItemId,
  isShellOutput,
  isTool,
  writeToolCall,
  writeToolOutput,
} from './responses-tools.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import { dataUrlOf, isFilled, joinTexts, onlyText, sdkOptionsOf, type WriteRequest } from './write.ts'

/** OpenAI Responses: `instructions` and the items of `input`. */
export const writeResponses: WriteRequest = (messages) => {
  const prepared = prepareThread(messages.map(foldPictures), RULES)
  const [first] = prepared
  const isInstruction = first?.role === 'system' && first.extras?.role !== 'developer'
  return dropUndefined({
    instructions: isInstruction ? joinTexts(first) : undefined,
    input: writeInput(isInstruction ? prepared.slice(1) : prepared),
  })
}

const RULES: Rules = {
  ids: /^[!-~]{1,64}$/,
  holdsResults: true,
  takes(media, place) {
    if (place !== 'user' && place !== 'tool') return false
    const { type, base64, fileId } = media
    if (type !== 'image' && type !== 'file') return false
    if (fileId !== undefined) return !/^file_01/.test(fileId)
    if (type === 'image' || base64 === undefined) return isWeb(media) || (!!base64 && isPicture(media))
    return isPdf(media) || isPicture(media) || OFFICE.test(mimeTypeOf(media) ?? '')
  },
  owns(block, place) {
    switch (block.type) {
      case 'reasoning':
        return proofOf(block) !== undefined
      case 'serverToolCall':
        return writeServerCall(block) !== undefined
      case 'serverToolResult':
        return true
      case 'nonStandard':
        return place === 'tool'
          ? isShellOutput(block.value) || isTool(block.value)
          : writeItem(block.value, place) !== undefined
      default:
        return false
    }
  },
}

/** The id of a thought and its encrypted form, from OpenAI or the AI SDK. */
function proofOf(block: ContentBlock & { readonly type: 'reasoning' }): Item | undefined {
  const sdk = { ...sdkOptionsOf(block, 'azure'), ...sdkOptionsOf(block, 'openai') }
  const id = [block.id, sdk.itemId].find((id) => isItemId(id, 'rs_'))
  const encrypted_content = [block.extras?.encrypted_content, sdk.reasoningEncryptedContent].find(isFilled)
  return id || encrypted_content ? dropUndefined({ id, encrypted_content }) : undefined
}

const OFFICE =
  /^application\/(msword|vnd\.(ms-(excel|powerpoint)|openxmlformats-officedocument\.[a-z]+ml\.[a-z]+))$/

/** A picture that the model made belongs to its call. */
function foldPictures(message: Message): Message {
  const content: ContentBlock[] = []
  for (const block of message.content) {
    const last = content.at(-1)
    const { type: kind, result } = last?.extras ?? {}
    if (block.type === 'image' && block.base64 && kind === 'image_generation_call' && result === undefined)
      content[content.length - 1] = { ...last!, extras: { ...last!.extras, result: block.base64 } }
    else content.push(block)
  }
  return { ...message, content }
}

function writeInput(messages: readonly PreparedMessage[]): Item[] {
  const items: Item[] = []
  const calls = new Map<unknown, Item>()
  const results = new Map(messages.map((message) => [message.toolCallId, message]))
  for (const message of messages) {
    const { role, content, toolCallId, extras } = message
    if (role === 'assistant') {
      const written = writeAnswer(content, results)
      for (const item of written) {
        if (item.call_id !== undefined) calls.set(item.call_id, item)
        items.push(item)
      }
    } else if (role === 'tool')
      items.push(writeToolOutput(calls.get(toolCallId), message, writeInputs(content)))
    else if (role === 'system')
      items.push({ role: extras?.role === 'developer' ? 'developer' : role, content: joinTexts(message) })
    else {
      const own = content.flatMap((block): Item[] => {
        const item = block.type === 'nonStandard' ? writeItem(block.value, role) : undefined
        return item ? [item] : []
      })
      const others = content.filter(({ type }) => type !== 'nonStandard')
      if (others.length > 0) items.push({ role, content: writeInputs(others) })
      for (const item of own) items.push(item)
    }
  }
  return onlyOnce(items)
}

/** An item stands once under its id. A message and a call need none. */
function onlyOnce(items: readonly Item[]): Item[] {
  const ids = new Set<unknown>()
  return items.flatMap((given) => {
    const { id, ...item } = given
    const isKnown = id !== undefined && ids.has(id)
    ids.add(id)
    if (!isKnown) return [given]
    const parts = listOf(item.content).map(fieldsOf)
    if (item.type === 'message')
      return [
        { role: 'assistant', content: parts.map(({ text, refusal }) => toText(text ?? refusal)).join('') },
      ]
    return item.call_id === undefined ? [] : [item]
  })
}

/** A text as a string, or parts. */
function writeInputs(content: readonly ContentBlock[]): unknown {
  const parts = content.filter(({ type }) => type !== 'nonStandard')
  return parts.length === 0 ? '' : (onlyText(parts) ?? parts.map(writeInputPart))
}

function writeInputPart(block: ContentBlock): unknown {
  if (block.type === 'text') return { type: 'input_text', text: block.text }
  const media = block as MediaBlock
  const { base64, url, fileId: file_id, extras = {} } = media
  const isImage = media.type === 'image' || (base64 !== undefined && isPicture(media))
  const detail = /^(auto|low|high|original)$/.test(String(extras.detail)) ? extras.detail : undefined
  if (isImage) {
    const source = file_id ? { file_id } : { image_url: dataUrlOf(media) ?? url }
    return dropUndefined({ type: 'input_image', ...source, detail })
  }
  return {
    type: 'input_file',
    ...(file_id
      ? { file_id }
      : base64 === undefined
        ? { file_url: url }
        : { file_data: dataUrlOf(media), filename: nameOf(media) ?? 'document.pdf' }),
  }
}

/** Writes what the model said, thought and called. Consecutive blocks with one id are one item. */
function writeAnswer(
  content: PreparedMessage['content'],
  results: ReadonlyMap<string | undefined, PreparedMessage>,
): Item[] {
  const items: Item[] = []
  for (const block of content) {
    const { type, id, extras = {} } = block
    const last = items.at(-1)
    switch (type) {
      case 'text':
        addText(items, block)
        break
      case 'reasoning': {
        const proof = proofOf(block)
        const isNext = last?.type === 'reasoning' && proof?.id !== undefined && last.id === proof.id
        const item: Item = isNext ? last : { type, ...proof, summary: [] }
        if (isNext) Object.assign(item, proof)
        if (!isNext) items.push(item)
        if (extras.type === 'reasoning_text')
          item.content = [...listOf(item.content), { type: extras.type, text: block.text }]
        else if (block.text)
          item.summary = [...listOf(item.summary), { type: 'summary_text', text: block.text }]
        break
      }
      case 'toolCall':
        items.push(writeToolCall(block as ToolCallBlock, results.get(id)))
        break
      case 'serverToolCall': {
        const item = writeServerCall(block)
        if (item) items.push(item)
        break
      }
      case 'serverToolResult': {
        const call = items.find((item) => item.id === block.toolCallId)
        const field = RESULT_FIELDS[String(call?.type)]
        if (call && block.status === 'error' && /^mcp/.test(String(call.type)))
          call.error = toText(block.output)
        else if (call && field && block.output !== undefined)
          call[field] = call.type === 'mcp_call' ? toText(block.output) : block.output
        break
      }
      case 'nonStandard': {
        const item = writeItem(block.value, 'assistant')
        if (item) items.push(item)
        break
      }
    }
  }
  // A list of tools that did not arrive is none, and a thought needs what it led to.
  const whole = items.filter(({ type, tools }) => type !== 'mcp_list_tools' || Array.isArray(tools))
  const end = whole.findLastIndex(({ type, role }) => role === 'assistant' || /_call$/.test(String(type)))
  return whole.filter(({ type }, at) => type !== 'reasoning' || at < end)
}

function addText(items: Item[], block: TextBlock): void {
  const { id, text, extras = {} } = block
  const last = items.at(-1)
  const phase = /^(commentary|final_answer)$/.test(String(extras.phase)) ? extras.phase : undefined
  const about = { role: 'assistant', phase }
  if (isItemId(id, 'msg_')) {
    const part = writeOutputPart(block)
    if (last?.type === 'message' && last.id === id) (last.content as unknown[]).push(part)
    else items.push(dropUndefined({ type: 'message', id, ...about, status: 'completed', content: [part] }))
  } else if (last?.role === 'assistant' && last.phase === phase && typeof last.content === 'string')
    last.content += text
  else items.push(dropUndefined({ ...about, content: text }))
}

type TextBlock = ContentBlock & { readonly type: 'text' }

const writeOutputPart = (block: TextBlock): unknown =>
  block.extras?.type === 'refusal'
    ? { type: 'refusal', refusal: block.text }
    : {
        type: 'output_text',
        text: block.text,
        annotations: (block.annotations ?? []).flatMap((annotation) => writeOwnCitation(annotation) ?? []),
      }

/** The fields of each kind of citation, all of which the API asks back. */
const CITATIONS: Readonly<Record<string, readonly string[]>> = {
  url_citation: ['url', 'title', 'start_index', 'end_index'],
  file_citation: ['file_id', 'filename', 'index'],
  container_file_citation: ['container_id', 'file_id', 'filename', 'start_index', 'end_index'],
  file_path: ['file_id', 'index'],
}

function writeOwnCitation(annotation: Annotation): unknown {
  const written = fieldsOf(writeCitation(annotation))
  const fields = CITATIONS[String(written.type)]
  if (!fields?.every((key) => written[key] !== undefined)) return undefined
  return { type: written.type, ...Object.fromEntries(fields.map((key) => [key, written[key]])) }
}

/** Calls of OpenAI's own tools: the start of their ids, and the fields that they need. */
const SERVER_CALLS: Readonly<Record<string, readonly [prefix: string, needed: readonly string[]]>> = {
  web_search_call: ['ws_', ['action']],
  file_search_call: ['fs_', ['queries']],
  code_interpreter_call: ['ci_', ['container_id', 'code']],
  image_generation_call: ['ig_', ['result']],
  mcp_call: ['mcp_', ['server_label']],
  mcp_list_tools: ['mcpl_', ['server_label']],
}

function writeServerCall(block: ContentBlock & { readonly type: 'serverToolCall' }): Item | undefined {
  const { id, name, args, extras = {} } = block
  const type = String(extras.type)
  const [prefix = '', needed] = SERVER_CALLS[type] ?? []
  const given: Item = { ...args, ...extras }
  if (!isItemId(id, prefix) || !needed?.every((key) => given[key] !== undefined)) return undefined
  const own = Object.fromEntries(needed.map((key) => [key, given[key]]))
  if (type === 'mcp_call') return { type, id, name, arguments: JSON.stringify(args), ...own }
  const status = type === 'mcp_list_tools' ? undefined : 'completed'
  const outputs = type === 'code_interpreter_call' ? null : undefined
  return dropUndefined({ type, id, status, outputs, ...own })
}

/** Items that have no form of their own here, and are given back as they came. */
const ITEMS: Readonly<
  Record<string, readonly [place: string, needed: readonly string[], others: readonly string[]]>
> = {
  item_reference: ['assistant', ['id'], []],
  compaction: ['assistant', ['encrypted_content'], ['id']],
  mcp_approval_request: ['assistant', ['id', 'arguments', 'name', 'server_label'], []],
  mcp_approval_response: ['user', ['approval_request_id', 'approve'], ['id', 'reason']],
}

function writeItem(value: unknown, place: string): Item | undefined {
  const item = fieldsOf(value)
  const [where, needed = [], others = []] = ITEMS[String(item.type)] ?? []
  if (where !== place || !needed.every((key) => item[key] !== undefined)) return undefined
  return dropUndefined(Object.fromEntries(['type', ...needed, ...others].map((key) => [key, item[key]])))
}
