import type { Annotation, ContentBlock, Message, Usage } from '../../../../messages/index.ts'
import { countOf } from '../../../../messages/usage.ts'
import { collect, type Fields, fieldsOf, listOf, names, stringOf, toText } from '../../fields.ts'
import { toBase64 } from '../../reading/base64.ts'
import { readBlock, readCitation, toCall, toResult, vocabulary } from '../../reading/blocks.ts'
import { defineFormat } from '../../reading/define.ts'
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
} from '../../reading/draft.ts'
import {
  contentOf,
  roleOf,
  systemMessages,
  toMessages,
  toRequest,
  toToolMessage,
} from '../../reading/request.ts'
import { laterCounts, toUsage } from '../../reading/usage.ts'

/** AWS Bedrock: `Converse` and `ConverseStream`, whose bytes become base64. */
export const bedrockConverse = defineFormat({
  name: 'bedrockConverse',
  provider: 'amazon_bedrock',
  detect(value) {
    const fields = fieldsOf(value)
    const { output, messages, system, metadata, inferenceConfig, toolConfig } = fields
    if (fieldsOf(output).message) return 'response'
    const { usage, metrics } = fieldsOf(metadata)
    if (usage || metrics || Object.keys(fields).some((key) => EVENTS.has(key)) || exceptionOf(fields))
      return 'chunk'
    const parts = listOf(messages).flatMap((message) => listOf(fieldsOf(message).content))
    const own = [...listOf(system), ...parts].some(
      (part) => fieldsOf(part).type === undefined && kindOf(part),
    )
    return own || inferenceConfig || toolConfig ? 'request' : undefined
  },
  readRequest(request) {
    const { messages, system, inferenceConfig, toolConfig, ...others } = fieldsOf(request)
    const start = systemMessages(system, readPart)
    const fields: Fields = { ...others, ...fieldsOf(inferenceConfig), ...fieldsOf(toolConfig) }
    return toRequest(fields, ABOUT, start.concat(listOf(messages).flatMap(readMessage)), messages)
  },
  open(draft) {
    let counts: Fields | undefined
    return (event) => {
      const { output, messageStart, contentBlockStart, contentBlockDelta, contentBlockStop } = event
      const about = event.messageStop ?? event.metadata ?? (output && event)
      const { contentBlockIndex } = fieldsOf(contentBlockStart ?? contentBlockDelta ?? contentBlockStop)
      // Some servers leave out zeros.
      const at = contentBlockIndex ?? 0
      if (contentBlockDelta) readDelta(choiceOf(draft), at, fieldsOf(fieldsOf(contentBlockDelta).delta))
      else if (contentBlockStart)
        addPart(choiceOf(draft), at, readPart(fieldsOf(contentBlockStart).start, true))
      else if (contentBlockStop) finishPart(choiceOf(draft), at)
      else if (messageStart) addHead(draft, fieldsOf(messageStart), ABOUT)
      else if (about) {
        const { stopReason, usage } = fieldsOf(about)
        addHead(draft, fieldsOf(about), ABOUT)
        if (usage) {
          counts = laterCounts(counts, usage)
          addHead(draft, { usage: counts })
          draft.usage = readUsage(counts)
        }
        const choice = choiceOf(draft)
        choice.reason = stopReason || choice.reason
        for (const [at, part] of listOf(fieldsOf(fieldsOf(output).message).content).entries())
          addPart(choice, at, readPart(part))
      } else {
        const exception = exceptionOf(event)
        if (exception) addException(draft, exception, event)
        else addUnknown(draft, toBase64(event))
      }
    }
  },
})

const EVENTS = names('messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop')
/** The fields that are read elsewhere. `p` is padding. */
const ABOUT = names('output role p $metadata')
const MESSAGE = names('role content')
const CALL = names('toolUseId name input type')
const RESULT = names('toolUseId content status')

const VOCABULARY = vocabulary(
  {
    text: 'text citationsContent',
    reasoning: 'reasoningContent',
    image: 'image',
    audio: 'audio',
    video: 'video',
    file: 'document',
  },
  { base64: 'bytes', url: 'uri' },
  { text: 'guardContent' },
)

const MIME_TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  csv: 'text/csv',
  html: 'text/html',
  txt: 'text/plain',
  md: 'text/markdown',
}

function kindOf(part: unknown): string | undefined {
  for (const key in fieldsOf(part)) if (KINDS.has(key)) return key
  return undefined
}

const KINDS = names(
  'text image document video audio toolUse toolResult reasoningContent citationsContent guardContent cachePoint searchResult json',
)

function readPart(value: unknown, partial?: unknown): ContentBlock {
  const type = kindOf(value)
  const member = type && (value as Fields)[type]
  const fields = fieldsOf(member)
  switch (type) {
    case 'text':
    case 'json':
      return { type: 'text', text: toText(member) }
    case 'reasoningContent': {
      const { reasoningText, ...others } = fields
      return readBlock({ type, ...fieldsOf(reasoningText), ...fieldsOf(toBase64(others)) }, VOCABULARY)
    }
    case 'toolUse': {
      const { toolUseId, name, input, type: kind } = fields
      const server = kind === 'server_tool_use'
      const extras = collect(server ? { type: kind } : undefined, fields, CALL)
      const args = partial === true ? undefined : input
      return toCall(server ? 'serverToolCall' : 'toolCall', toolUseId, name, args, extras)
    }
    case 'toolResult':
      return toResult(
        fields.toolUseId,
        hasFailed(fields),
        fields.content ? toBase64(fields.content) : undefined,
        collect(undefined, fields, RESULT),
      )
    case 'citationsContent': {
      const annotations = listOf(fields.citations).map(readSource)
      const text = contentText(fields.content)
      return { type: 'text', text, ...(annotations.length > 0 && { annotations }) }
    }
    case 'guardContent':
      if (!fields.text) break
      return readBlock({ type, ...fieldsOf(fields.text) }, VOCABULARY)
    case 'image':
    case 'audio':
    case 'video':
    case 'document': {
      const { s3Location, ...source } = fieldsOf(toBase64(fields.source))
      // A document of plain text or of blocks is not a media block.
      if (source.text || source.content) break
      const mimeType = type === 'document' ? MIME_TYPES[stringOf(fields.format)] : undefined
      return readBlock(
        { type, ...fields, mimeType, source: { ...source, ...fieldsOf(s3Location) } },
        VOCABULARY,
      )
    }
  }
  return { type: 'nonStandard', value: toBase64(value) }
}

const hasFailed = ({ status }: Fields): boolean => status === 'error'

const contentText = (parts: unknown): string =>
  listOf(parts)
    .map((part) => stringOf(fieldsOf(part).text))
    .join('')

function readSource(value: unknown): Annotation {
  const { sourceContent, location, ...others } = fieldsOf(value)
  const [[type, place] = []] = Object.entries(fieldsOf(location))
  const cited_text = contentText(sourceContent)
  return readCitation({ url: fieldsOf(place).url, ...others, type, cited_text, location })
}

function readDelta(choice: Choice, at: unknown, delta: Fields): void {
  const { text, toolUse, reasoningContent, citation, toolResult, image, ...others } = delta
  if (typeof text === 'string') addPart(choice, at, { type: 'text', text })
  if (toolUse) addMore(choice, at, toText(fieldsOf(toolUse).input))
  if (reasoningContent) addPart(choice, at, readPart({ reasoningContent }))
  if (image) addPart(choice, at, readPart({ image }))
  if (citation) addPart(choice, at, { type: 'text', text: '', annotations: [readSource(citation)] })
  if (toolResult) addPart(choice, at, { type: 'serverToolResult', output: toolResult } as ContentBlock)
  addMore(choice, at, undefined, others)
}

function readMessage(value: unknown): Message[] {
  const { role: raw, content, ...others } = fieldsOf(value)
  const role = roleOf(raw)
  const extras = collect(undefined, others, MESSAGE)
  return toMessages({ role, ...(extras && { extras }) }, listOf(content), (part) => {
    const { toolResult } = fieldsOf(part)
    return toolResult && role === 'user' ? readToolMessage(fieldsOf(toolResult)) : readPart(part)
  })
}

function readToolMessage(result: Fields): Message {
  const content = contentOf(result.content, readPart)
  return toToolMessage(result.toolUseId, hasFailed(result), content, collect(undefined, result, RESULT))
}

/** Bedrock's input leaves out cached tokens, so they are added. */
function readUsage(usage: Fields): Usage | undefined {
  if (usage.inputTokens === undefined && usage.outputTokens === undefined) return undefined
  const read = countOf(usage.cacheReadInputTokens)
  const written: Record<string, number> = { '5m': 0, '1h': 0 }
  for (const detail of listOf(usage.cacheDetails)) {
    const { ttl, inputTokens } = fieldsOf(detail)
    if (Object.hasOwn(written, ttl as string)) written[ttl as string]! += countOf(inputTokens)
  }
  const { '5m': short = 0, '1h': long = 0 } = written
  const other = Math.max(0, countOf(usage.cacheWriteInputTokens) - short - long)
  return toUsage(
    countOf(usage.inputTokens) + read + short + long + other,
    usage.outputTokens,
    {
      cache_read: read,
      ephemeral_5m_input_tokens: short,
      ephemeral_1h_input_tokens: long,
      cache_creation: other,
    },
    {},
  )
}

const isException = (key: string): boolean => key.endsWith('Exception')

/** The exception's name if the event is one, as a failing Bedrock stream sends it. */
export const exceptionOf = (event: Fields): string | undefined => Object.keys(event).find(isException)

export function addException(draft: Draft, type: string, event: Fields): void {
  const exception = fieldsOf(event[type])
  // The message is not enumerable if the SDK returns an `Error`.
  addError(draft, { ...exception, type, message: exception.message })
}
