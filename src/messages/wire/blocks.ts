import {
  type Annotation,
  COMMON_FIELDS,
  type ContentBlock,
  type Extras,
  type MediaBlock,
  type MediaType,
  splitDataUrl,
} from '../content.ts'
import { defined, filterFields, isRecord, nonEmpty } from '../record.ts'
import { parseToolArgs } from '../tool-args.ts'
import { fromWire, toWire, type WireNames } from './names.ts'

/**
 * A content block with the names of the protocol and LangChain's messages (standard content v1). Other fields
 * are on the block itself and become `extras`.
 */
export interface WireBlock {
  readonly type: string
  readonly [field: string]: unknown
}

const MEDIA: WireNames = { url: 'url', base64: 'data', fileId: 'file_id', mimeType: 'mime_type' }
const CITATION: WireNames = {
  url: 'url',
  title: 'title',
  startIndex: 'start_index',
  endIndex: 'end_index',
  citedText: 'cited_text',
}

const MEDIA_FIELDS = /* @__PURE__ */ Object.entries(MEDIA).flat()
const CITATION_FIELDS = /* @__PURE__ */ Object.entries(CITATION).flat()

/** The wire fields of each block type, which extras cannot use as names. */
const OWN_FIELDS: Readonly<Record<ContentBlock['type'], readonly string[]>> = {
  text: ['text', 'annotations'],
  reasoning: ['reasoning'],
  image: MEDIA_FIELDS,
  audio: MEDIA_FIELDS,
  video: MEDIA_FIELDS,
  file: MEDIA_FIELDS,
  toolCall: ['name', 'args'],
  invalidToolCall: ['name', 'args', 'error'],
  serverToolCall: ['name', 'args'],
  serverToolResult: ['tool_call_id', 'toolCallId', 'status', 'output'],
  nonStandard: ['value'],
}

/** Encodes a block. Base64 is written to `data`, where the JavaScript client reads it. */
export function encodeBlock(block: ContentBlock): WireBlock {
  return {
    ...flatExtras(wireExtras(block), OWN_FIELDS[block.type]),
    ...encodeFields(block),
    ...defined({ id: block.id }),
  }
}

const PLAIN = 'text-plain'

/** The extras without those that have a place of their own on the wire. */
function wireExtras(block: ContentBlock): Extras | undefined {
  const { extras } = block
  if (block.type === 'text' && extras?.type === PLAIN) return filterFields(extras, (key) => key !== 'type')
  if (!isMedia(block) || typeof extras?.filename !== 'string') return extras
  const { filename, metadata, ...others } = extras
  const about = isRecord(metadata) ? metadata : undefined
  return { ...others, metadata: nameIn(about) === filename ? about : { ...about, filename } }
}

function encodeFields(block: ContentBlock): WireBlock {
  switch (block.type) {
    case 'text':
      return {
        type: block.extras?.type === PLAIN ? PLAIN : 'text',
        text: block.text,
        ...defined({ annotations: block.annotations?.map(encodeAnnotation) }),
      }
    case 'reasoning':
      return { type: 'reasoning', reasoning: block.text }
    case 'toolCall':
      return { type: 'tool_call', id: null, name: block.name, args: block.args }
    case 'invalidToolCall':
      return {
        type: 'invalid_tool_call',
        id: null,
        name: block.name ?? null,
        args: block.args,
        error: block.error,
      }
    case 'serverToolCall':
      return { type: 'server_tool_call', name: block.name, args: block.args }
    case 'serverToolResult': {
      const { toolCallId, status, output } = block
      return { type: 'server_tool_result', tool_call_id: toolCallId, status, ...defined({ output }) }
    }
    case 'nonStandard':
      return { type: 'non_standard', value: block.value }
    default:
      return { type: block.type, ...toWire(block, MEDIA) }
  }
}

/**
 * Decodes a block in LangChain's snake_case or camelCase, or OpenAI's `image_url`. Other blocks are kept
 * whole.
 */
export function decodeBlock(wire: unknown): ContentBlock {
  if (typeof wire === 'string') return { type: 'text', text: wire }
  const block = isRecord(wire) ? decodeRecord(wire) : undefined
  return block ?? { type: 'nonStandard', value: wire }
}

function decodeRecord(wire: Record<string, unknown>): ContentBlock | undefined {
  const block = decodeFields(wire)
  if (!block) return undefined
  const read =
    wire.type === 'image_url' ? block : { ...block, ...unknownFields(wire, OWN_FIELDS[block.type]) }
  if (isMedia(read)) return withFilename(read)
  return wire.type === PLAIN ? { ...read, extras: { ...read.extras, type: PLAIN } } : read
}

const isMedia = (block: ContentBlock): block is MediaBlock =>
  block.type === 'image' || block.type === 'audio' || block.type === 'video' || block.type === 'file'

/** The name of a file in LangChain's `metadata`. */
const nameIn = (metadata: Readonly<Record<string, unknown>> | undefined): unknown =>
  [metadata?.filename, metadata?.name, metadata?.title].find((name) => typeof name === 'string')

/**
 * A file's name is `extras.filename`. On the wire it stands in LangChain's `metadata`, or in `filename` or
 * `name` of the block.
 */
function withFilename(block: MediaBlock): MediaBlock {
  const { filename: flat, name, metadata, ...others } = block.extras ?? {}
  const about = isRecord(metadata) ? metadata : undefined
  const filename = [flat, name, nameIn(about)].find((one) => typeof one === 'string')
  if (filename === undefined) return block
  const rest = about ? nonEmpty(filterFields(about, (key) => key !== 'filename')) : metadata
  return { ...block, extras: { ...others, filename, ...defined({ metadata: rest }) } }
}

function decodeFields(wire: Record<string, unknown>): ContentBlock | undefined {
  switch (wire.type) {
    case 'image_url':
      return decodeImageUrl(wire)
    case PLAIN:
      // Without text it is a file, by its bytes or its address.
      if (typeof wire.text !== 'string') return decodeMedia(wire, 'file')
      return { type: 'text', text: wire.text }
    case 'text': {
      if (typeof wire.text !== 'string') return undefined
      const annotations = Array.isArray(wire.annotations) && wire.annotations.map(decodeAnnotation)
      return { type: 'text', text: wire.text, ...(annotations && { annotations }) }
    }
    case 'reasoning': {
      const text = wire.reasoning ?? ''
      return typeof text === 'string' ? { type: 'reasoning', text } : undefined
    }
    case 'refusal': {
      if (typeof wire.refusal !== 'string') return undefined
      const { id, extras } = unknownFields(wire, ['refusal'])
      return { type: 'text', text: wire.refusal, ...defined({ id }), extras: { ...extras, type: 'refusal' } }
    }
    case 'tool_call':
      return isRecord(wire.args) ? { type: 'toolCall', ...call(wire), args: wire.args } : undefined
    case 'tool_call_chunk': {
      const parsed = parseToolArgs(String(wire.args ?? ''))
      if ('error' in parsed) return { type: 'invalidToolCall', ...call(wire), ...parsed }
      return { type: 'toolCall', ...call(wire), ...parsed }
    }
    case 'invalid_tool_call': {
      const [args, error] = [String(wire.args ?? ''), String(wire.error ?? '')]
      const name = wire.name ? { name: String(wire.name) } : undefined
      return { type: 'invalidToolCall', ...name, args, error }
    }
    case 'server_tool_call':
      return isRecord(wire.args) ? { type: 'serverToolCall', ...call(wire), args: wire.args } : undefined
    case 'server_tool_result':
    case 'server_tool_call_result': {
      const toolCallId = wire.tool_call_id ?? wire.toolCallId
      if (typeof toolCallId !== 'string') return undefined
      const status = wire.status === 'error' ? 'error' : 'success'
      return { type: 'serverToolResult', toolCallId, status, ...defined({ output: wire.output }) }
    }
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return decodeMedia(wire, wire.type)
    case 'non_standard':
      return { type: 'nonStandard', value: wire.value }
    default:
      return undefined
  }
}

function decodeMedia(wire: Record<string, unknown>, type: MediaType): MediaBlock | undefined {
  const fields = fromWire(wire, MEDIA)
  if (Object.values(fields).some((value) => typeof value !== 'string')) return undefined
  // Media with a `source` or `file` are provider-specific blocks, which are kept whole.
  if (wire.source !== undefined || (type === 'file' && isRecord(wire.file))) return undefined
  return { type, ...fields }
}

function decodeImageUrl(wire: Record<string, unknown>): MediaBlock | undefined {
  const { image_url: image, type: _, ...others } = wire
  const { url, ...detail }: Record<string, unknown> = isRecord(image) ? image : { url: image }
  if (typeof url !== 'string') return undefined
  const inline = splitDataUrl(url)
  const source = inline ? defined(inline) : { url }
  return { type: 'image', ...source, ...unknownFields({ ...others, ...detail }, MEDIA_FIELDS) }
}

function encodeAnnotation(annotation: Annotation): Record<string, unknown> {
  const { id } = annotation
  if (annotation.type === 'nonStandard') {
    return { type: 'non_standard_annotation', ...defined({ id }), value: annotation.value }
  }
  return {
    ...flatExtras(annotation.extras, CITATION_FIELDS),
    type: 'citation',
    ...defined({ id }),
    ...toWire(annotation, CITATION),
  }
}

function decodeAnnotation(wire: unknown): Annotation {
  if (!isRecord(wire)) return { type: 'nonStandard', value: wire }
  const { id } = wire
  if (wire.type === 'non_standard_annotation') {
    return { type: 'nonStandard', ...(typeof id === 'string' && { id }), value: wire.value }
  }
  if (wire.type !== 'citation') return { type: 'nonStandard', value: wire }
  return { type: 'citation', ...fromWire(wire, CITATION), ...unknownFields(wire, CITATION_FIELDS) }
}

const call = ({ name }: Record<string, unknown>) => ({ name: typeof name === 'string' ? name : '' })

/** `id` and `extras` of a block or annotation. */
function unknownFields(
  wire: Record<string, unknown>,
  own: readonly string[],
): { id?: string; extras?: Extras } {
  const { type: _, id, extras: nested, ...others } = wire
  const extras = filterFields(others, (key) => !own.includes(key))
  const all = isRecord(nested) ? { ...extras, ...nested } : { ...extras, ...defined({ extras: nested }) }
  return defined({ id: typeof id === 'string' ? id : undefined, extras: nonEmpty(all) })
}

/** Extras become fields of the block. Extras with reserved names are nested under `extras`. */
function flatExtras(extras: Extras | undefined, own: readonly string[]): Record<string, unknown> | undefined {
  if (!extras) return undefined
  const taken = (key: string) => COMMON_FIELDS.includes(key) || own.includes(key)
  const nested = filterFields(extras, taken)
  const flat = filterFields(extras, (key) => !taken(key))
  return { ...flat, ...defined({ extras: nonEmpty(nested) }) }
}
