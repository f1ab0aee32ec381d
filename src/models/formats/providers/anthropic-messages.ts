import type { ContentBlock, Message, Usage } from '../../../messages/index.ts'
import { countOf } from '../../../messages/usage.ts'
import { collect, type Fields, fieldsOf, listOf, names, stringOf } from '../fields.ts'
import { readBlock, readCitation, toResult, vocabulary } from '../reading/blocks.ts'
import { defineFormat } from '../reading/define.ts'
import {
  addError,
  addHead,
  addMore,
  addPart,
  addUnknown,
  type Choice,
  choiceOf,
  type Draft,
  finishPart,
} from '../reading/draft.ts'
import { contentOf, systemMessages, toMessages, toRequest, toToolMessage } from '../reading/request.ts'
import { addUsage, cacheWrites, laterCounts, sumOf, toUsage } from '../reading/usage.ts'

/** Anthropic Messages, which Bedrock's InvokeModel and Vertex serve as well. */
export const anthropicMessages = defineFormat({
  name: 'anthropicMessages',
  provider: 'anthropic',
  detect(value) {
    const fields = fieldsOf(value)
    const { type, content, messages, error } = fields
    if (type === 'message') return Array.isArray(content) ? 'response' : undefined
    if (/^(message_|content_block_|ping$)/.test(stringOf(type)) || (type === 'error' && error)) return 'chunk'
    // Many formats have `messages`, so a request needs something that only this format has.
    const own = listOf(messages).some((message) => listOf(fieldsOf(message).content).some(isOwn))
    return messages &&
      (own || 'system' in fields || 'anthropic_version' in fields || 'stop_sequences' in fields)
      ? 'request'
      : undefined
  },
  readRequest(request) {
    const fields = fieldsOf(request)
    const { system, messages } = fields
    const start = systemMessages(system, readContentBlock)
    return toRequest(fields, REQUEST, start.concat(listOf(messages).flatMap(readMessage)), messages)
  },
  open: openMessages,
})

export function openMessages(draft: Draft): (event: Fields) => void {
  let usage: Fields | undefined

  function readAbout(message: Fields): void {
    addHead(draft, message, MESSAGE)
    if (message.usage) {
      usage = laterCounts(usage, message.usage)
      addHead(draft, { usage })
      draft.usage = readUsage(usage)
    }
    const choice = choiceOf(draft)
    choice.reason = message.stop_reason || choice.reason
    for (const [at, block] of listOf(message.content).entries())
      finishPart(choice, at, readContentBlock(block))
  }

  return (event) => {
    const { type, delta, content_block: block } = event
    // Some servers leave out zeros.
    const index = event.index ?? 0
    switch (type) {
      case 'content_block_delta':
        readDelta(choiceOf(draft), index, fieldsOf(delta))
        break
      case 'content_block_start':
      case 'content_block_stop':
        finishPart(choiceOf(draft), index)
        if (block) addPart(choiceOf(draft), index, readContentBlock(block, true))
        break
      case 'message':
        readAbout(event)
        break
      case 'message_start':
        readAbout(fieldsOf(event.message))
        break
      case 'message_delta':
        readAbout({ ...event, ...fieldsOf(delta) })
        break
      case 'message_stop':
        addHead(draft, event, MESSAGE)
        break
      case 'error':
        addError(draft, event.error)
        break
      case 'ping':
        break
      default:
        addUnknown(draft, event)
    }
  }
}

const isOwn = (block: unknown): boolean =>
  /^(tool_use|tool_result|thinking|document)$/.test(stringOf(fieldsOf(block).type)) ||
  'cache_control' in fieldsOf(block)

const REQUEST = names('messages system')
const MESSAGE = names('id type role content delta')
const RESULT = names('type tool_use_id content is_error')

const VOCABULARY = vocabulary(
  {
    text: 'text',
    reasoning: 'thinking',
    image: 'image',
    file: 'document',
    toolCall: 'tool_use',
    serverToolCall: 'server_tool_use',
  },
  {
    text: 'thinking',
    annotations: 'citations',
    base64: 'data',
    mimeType: 'media_type',
    fileId: 'file_id',
    args: 'input',
  },
  {
    reasoning: 'redacted_thinking',
    file: 'container_upload',
    serverToolCall: 'mcp_tool_use',
  },
)

function readDelta(choice: Choice, index: unknown, delta: Fields): void {
  const { type, text, thinking, signature, partial_json: args, citation, ...others } = delta
  if (typeof text === 'string') addPart(choice, index, { type: 'text', text })
  if (typeof thinking === 'string') addPart(choice, index, { type: 'reasoning', text: thinking })
  if (signature) addPart(choice, index, { type: 'reasoning', text: '', extras: { signature } })
  if (citation) addPart(choice, index, { type: 'text', text: '', annotations: [readCitation(citation)] })
  if (typeof args === 'string') addMore(choice, index, args)
  addMore(choice, index, undefined, others)
}

function readContentBlock(value: unknown, partial?: boolean): ContentBlock {
  const block = fieldsOf(value)
  const { type, content } = block
  // A document of plain text or of blocks is not a media block.
  if (block.source && /^(text|content)$/.test(stringOf(fieldsOf(block.source).type)))
    return { type: 'nonStandard', value }
  if (!stringOf(type).endsWith('_tool_result')) return readBlock(value, VOCABULARY, partial === true)
  const failed = block.is_error || stringOf(fieldsOf(content).type).endsWith('_error')
  return toResult(block.tool_use_id, failed, content, collect({ type }, block, RESULT))
}

function readMessage(value: unknown): Message[] {
  const { role: raw, content, ...others } = fieldsOf(value)
  const extras = collect(undefined, others)
  const role = raw === 'assistant' || raw === 'system' ? raw : 'user'
  const parts = content === null ? [] : Array.isArray(content) ? content : [content ?? value]
  return toMessages({ role, ...(extras && { extras }) }, parts, readInput)
}

function readInput(part: unknown): ContentBlock | Message {
  const block = fieldsOf(part)
  if (block.type !== 'tool_result') return readContentBlock(part)
  const content = contentOf(block.content, readContentBlock)
  return toToolMessage(block.tool_use_id, block.is_error, content, collect(undefined, block, RESULT))
}

/** Anthropic's totals leave out the passes that compacted the context, so those are added. */
function readUsage(usage: Fields): Usage | undefined {
  if (usage.input_tokens === undefined && usage.output_tokens === undefined) return undefined
  const passes = listOf(usage.iterations).map(fieldsOf)
  const served = passes.some(({ type }) => type === 'fallback_message')
  const compacted = served ? [] : passes.filter(({ type }) => type === 'compaction')
  return compacted.map(countsOf).reduce(addUsage, countsOf(usage))
}

/** Anthropic's totals leave out cached tokens, so those are added. */
function countsOf(pass: Fields): Usage {
  const read = countOf(pass.cache_read_input_tokens)
  const writes = cacheWrites(pass.cache_creation_input_tokens, pass.cache_creation)
  return toUsage(
    countOf(pass.input_tokens) + read + sumOf(writes),
    pass.output_tokens,
    { cache_read: read, ...writes },
    { reasoning: fieldsOf(pass.output_tokens_details).thinking_tokens },
    undefined,
    pass,
  )
}
