import type { Annotation, ContentBlock, MediaBlock, Message } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import { dropUndefined, fieldsOf, listOf, nonEmpty } from '../fields.ts'
import { contentOfFile, isPdf, isPicture, mimeTypeOf, nameOf } from './media.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import {
  isFilled,
  mergeTurns,
  sdkOptionsOf,
  splitSystem,
  type WriteRequest,
  withoutLastThoughts,
} from './write.ts'

/** Anthropic Messages: `system` and `messages`. */
export const writeAnthropic: WriteRequest = (messages) => {
  const { system, turns } = splitSystem(prepareThread(messages, RULES))
  const request = {
    system: nonEmpty(system.map((block) => writeText(block))),
    messages: mergeTurns<unknown>(withoutLastThoughts(turns), writeTurn),
  }
  limitCaches([...(request.system ?? []), ...request.messages.flatMap(({ content }) => content)])
  return dropUndefined(request)
}

const RESULTS =
  /^((web_(search|fetch)|(bash_|text_editor_)?code_execution|tool_search)_tool_result|mcp_tool_result)$/
const SERVER_TOOLS =
  /^(web_search|web_fetch|(bash_|text_editor_)?code_execution|tool_search_tool_(regex|bm25))$/

const RULES: Rules = {
  ids: /^[a-zA-Z0-9_-]{1,128}$/,
  names: /^[a-zA-Z0-9_-]{1,128}$/,
  takes(media, place) {
    if (place !== 'user' && place !== 'tool') return false
    if (media.fileId !== undefined) return FILE_ID.test(media.fileId)
    if (media.base64 !== undefined)
      return isPicture(media) || isPdf(media) || contentOfFile(media) !== undefined
    return /^https:/.test(media.url ?? '') && (media.type === 'image' || isPdf(media))
  },
  owns(block, place) {
    const { type: kind, server_name } = block.extras ?? {}
    switch (block.type) {
      case 'reasoning':
        return proofOf(block) !== undefined
      case 'serverToolCall': {
        const id = block.id ?? ''
        return kind === 'mcp_tool_use'
          ? ID.test(id) && isFilled(server_name)
          : SERVER_ID.test(id) &&
              /^(server_tool_use|undefined)$/.test(String(kind)) &&
              SERVER_TOOLS.test(block.name)
      }
      case 'serverToolResult':
        return RESULTS.test(String(kind)) && typeof block.output === 'object' && block.output !== null
      case 'file':
        return kind === 'container_upload' && place === 'user' && FILE_ID.test(block.fileId ?? '')
      case 'nonStandard':
        return place === 'assistant' ? isCompaction(block.value) : isDocument(block.value)
      default:
        return false
    }
  },
}

/** A thought with Claude's proof, from Anthropic, Bedrock or the AI SDK. */
function proofOf(block: ContentBlock & { readonly type: 'reasoning' }): unknown {
  const { extras = {} } = block
  const sdk = sdkOptionsOf(block, 'anthropic')
  const data = extras.type === 'redacted_thinking' ? extras.data : sdk.redactedData
  const signature = extras.signature ?? sdk.signature
  if (isFilled(data)) return { type: 'redacted_thinking', data }
  return isFilled(signature) ? { type: 'thinking', thinking: block.text, signature } : undefined
}

const ID = /^[a-zA-Z0-9_-]+$/
const SERVER_ID = /^srvtoolu_[a-zA-Z0-9_]+$/
const FILE_ID = /^file_/

const isCompaction = (value: unknown): boolean => {
  const { type, content } = fieldsOf(value)
  return type === 'compaction' && isFilled(content)
}

/** A document of plain text or of blocks, or the result of a search. */
function isDocument(value: unknown): boolean {
  const { type, source, title, content } = fieldsOf(value)
  const { type: kind, data, content: parts } = fieldsOf(source)
  if (type === 'search_result') return isFilled(source) && isFilled(title) && isTexts(content)
  return type === 'document' && (kind === 'text' ? isFilled(data) : kind === 'content' && isTexts(parts))
}

const isTexts = (parts: unknown): boolean =>
  Array.isArray(parts) &&
  parts.length > 0 &&
  parts.every((part) => fieldsOf(part).type === 'text' && isFilled(fieldsOf(part).text))

function writeTurn({ role, content, toolCallId, status, extras }: PreparedMessage) {
  const blocks = content.map(writeBlock)
  if (role !== 'tool') return { role: role === 'user' ? 'user' : 'assistant', content: blocks }
  const result = dropUndefined({
    type: 'tool_result',
    tool_use_id: toolCallId,
    content: nonEmpty(blocks),
    is_error: status === 'error' || undefined,
    cache_control: cacheOf(extras),
  })
  return { role: 'user', content: [result] }
}

function cacheOf(extras: Message['extras']): unknown {
  const { type, ttl } = fieldsOf(extras?.cache_control)
  if (type !== 'ephemeral') return undefined
  return ttl === '5m' || ttl === '1h' ? { type, ttl } : { type }
}

/** The API takes four marks of the cache. The last ones cover what the first ones do. */
function limitCaches(blocks: readonly unknown[]): void {
  const marked = blocks.map(fieldsOf).filter(({ cache_control }) => cache_control !== undefined)
  for (const block of marked.slice(0, -4)) delete (block as Record<string, unknown>).cache_control
}

const writeText = ({ text, annotations = [], extras }: Extract<ContentBlock, { type: 'text' }>) =>
  dropUndefined({
    type: 'text',
    text,
    citations: nonEmpty(annotations.filter(isOwnCitation).map(writeCitation)),
    cache_control: cacheOf(extras),
  })

function writeBlock(block: PreparedMessage['content'][number]): unknown {
  const { id, extras = {} } = block
  const cache_control = cacheOf(extras)
  switch (block.type) {
    case 'text':
      return writeText(block)
    case 'reasoning':
      return proofOf(block)
    case 'toolCall':
      return dropUndefined({
        type: 'tool_use',
        id,
        name: block.name,
        input: block.args,
        caller: isRecord(extras.caller) ? extras.caller : undefined,
        cache_control,
      })
    case 'serverToolCall':
      return dropUndefined({
        type: extras.type ?? 'server_tool_use',
        id,
        name: block.name,
        input: block.args,
        server_name: extras.type === 'mcp_tool_use' ? extras.server_name : undefined,
        caller: isRecord(extras.caller) ? extras.caller : undefined,
        cache_control,
      })
    case 'serverToolResult':
      return dropUndefined({
        type: extras.type,
        tool_use_id: block.toolCallId,
        content: block.output,
        is_error: extras.type === 'mcp_tool_result' ? block.status === 'error' : undefined,
        caller: isRecord(extras.caller) ? extras.caller : undefined,
        cache_control,
      })
    case 'nonStandard':
      return writeOwn(fieldsOf(block.value))
    default:
      return writeMedia(block)
  }
}

/** Writes what `owns` found to be Anthropic's, with its documented fields alone. */
function writeOwn(value: Readonly<Record<string, unknown>>): unknown {
  const { type, source, title, context, content, citations } = value
  const cache_control = cacheOf(value)
  if (type === 'compaction') return dropUndefined({ type, content, cache_control })
  const own = type === 'search_result'
  return dropUndefined({
    type,
    source: own ? source : sourceOfDocument(fieldsOf(source)),
    title: isFilled(title) ? title : undefined,
    context: !own && isFilled(context) ? context : undefined,
    content: own ? textsIn(content) : undefined,
    citations: citationsOf(citations),
    cache_control,
  })
}

const sourceOfDocument = ({ type, data, content }: Readonly<Record<string, unknown>>): unknown =>
  type === 'text' ? { type, media_type: 'text/plain', data } : { type, content: textsIn(content) }

const textsIn = (parts: unknown): unknown[] =>
  listOf(parts).map((part) => ({ type: 'text', text: fieldsOf(part).text }))

function citationsOf(citations: unknown): unknown {
  const { enabled } = fieldsOf(citations)
  return typeof enabled === 'boolean' ? { enabled } : undefined
}

function writeMedia(media: MediaBlock): unknown {
  const { type, fileId, extras = {} } = media
  const cache_control = cacheOf(extras)
  if (extras.type === 'container_upload')
    return dropUndefined({ type: extras.type, file_id: fileId, cache_control })
  const picture = fileId === undefined && media.url === undefined ? isPicture(media) : type === 'image'
  const text = picture ? undefined : contentOfFile(media)
  const source =
    text === undefined
      ? sourceOf({ ...media, ...(media.base64 !== undefined && { mimeType: mimeTypeOf(media)! }) })
      : { type: 'text', media_type: 'text/plain', data: text }
  if (picture) return dropUndefined({ type: 'image', source, cache_control })
  const { title = nameOf(media), context, citations } = extras
  return dropUndefined({
    type: 'document',
    source,
    title: isFilled(title) ? title : undefined,
    context: isFilled(context) ? context : undefined,
    citations: citationsOf(citations),
    cache_control,
  })
}

/** The fields of each kind of citation that the API asks back. */
const CITATIONS: Readonly<Record<string, readonly string[]>> = {
  char_location: ['document_index', 'start_char_index', 'end_char_index'],
  page_location: ['document_index', 'start_page_number', 'end_page_number'],
  content_block_location: ['document_index', 'start_block_index', 'end_block_index'],
  web_search_result_location: ['encrypted_index'],
  search_result_location: ['search_result_index', 'start_block_index', 'end_block_index'],
}

function isOwnCitation(annotation: Annotation): boolean {
  const { type, ...extras } = (annotation.type === 'citation' && annotation.extras) || {}
  return CITATIONS[String(type)]?.every((key) => extras[key] !== undefined) ?? false
}

const sourceOf = ({ url, base64, fileId, mimeType }: MediaBlock): unknown =>
  base64 !== undefined
    ? dropUndefined({ type: 'base64', media_type: mimeType, data: base64 })
    : fileId !== undefined
      ? { type: 'file', file_id: fileId }
      : { type: 'url', url }

function citationNames({ extras }: Pick<Message, 'extras'>) {
  const type = String(extras?.type ?? 'web_search_result_location')
  return {
    type,
    urlField: type === 'search_result_location' ? 'source' : 'url',
    titleField: /^(char|page|content_block)/.test(type) ? 'document_title' : 'title',
  }
}

/** Writes a citation of its own. */
function writeCitation(annotation: Annotation): unknown {
  if (annotation.type === 'nonStandard') return undefined
  const { url, title = null, citedText = '', extras = {} } = annotation
  const { type, urlField, titleField } = citationNames(annotation)
  const own = Object.fromEntries(CITATIONS[type]!.map((key) => [key, extras[key]]))
  const place = titleField === 'title' ? { [urlField]: url ?? '' } : undefined
  return { type, cited_text: citedText, ...place, [titleField]: title, ...own }
}
