import { isRecord } from './record.ts'
/** Provider fields without a name in the normal form, as plain JSON. */
export type Extras = Readonly<Record<string, unknown>>

interface BlockFields {
  readonly id?: string
  readonly extras?: Extras
}

/** Text, with its annotations if there are any. */
export interface TextBlock extends BlockFields {
  readonly type: 'text'
  readonly text: string
  readonly annotations?: readonly Annotation[]
}

/** The reasoning of a model. `extras` has signatures and encrypted forms. */
export interface ReasoningBlock extends BlockFields {
  readonly type: 'reasoning'
  readonly text: string
}

/** The types of media blocks. */
export type MediaType = 'image' | 'audio' | 'video' | 'file'

/** Media from one source: a URL, base64 data or the id of a stored file. */
export interface MediaBlock extends BlockFields {
  readonly type: MediaType
  readonly url?: string
  readonly base64?: string
  readonly fileId?: string
  readonly mimeType?: string
}

/** A tool call whose arguments are a JSON object. */
export interface ToolCallBlock extends BlockFields {
  readonly type: 'toolCall'
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** A tool call whose arguments are not a JSON object. They are kept as the model wrote them. */
export interface InvalidToolCallBlock extends BlockFields {
  readonly type: 'invalidToolCall'
  readonly name?: string
  /** The raw text. */
  readonly args: string
  readonly error: string
}

/** A call of a tool that the provider runs, such as web search. */
export interface ServerToolCallBlock extends BlockFields {
  readonly type: 'serverToolCall'
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** The result of a tool that the provider ran. */
export interface ServerToolResultBlock extends BlockFields {
  readonly type: 'serverToolResult'
  readonly toolCallId: string
  readonly status: 'success' | 'error'
  readonly output?: unknown
}

/** A block with an unknown type. `value` is the whole block. */
export interface NonStandardBlock extends BlockFields {
  readonly type: 'nonStandard'
  readonly value: unknown
}

/** A block of a message's content, in the normal form of all providers. */
export type ContentBlock =
  | TextBlock
  | ReasoningBlock
  | MediaBlock
  | ToolCallBlock
  | InvalidToolCallBlock
  | ServerToolCallBlock
  | ServerToolResultBlock
  | NonStandardBlock

/** A source of a text block. */
export interface Citation {
  readonly type: 'citation'
  readonly id?: string
  readonly url?: string
  readonly title?: string
  /** The range of the citation in the block's text, in UTF-16 code units. The end is exclusive. */
  readonly startIndex?: number
  readonly endIndex?: number
  readonly citedText?: string
  readonly extras?: Extras
}

/** An annotation with an unknown type. `value` is the whole annotation. */
export interface NonStandardAnnotation {
  readonly type: 'nonStandard'
  readonly id?: string
  readonly value: unknown
}

/** An annotation of a text block. */
export type Annotation = Citation | NonStandardAnnotation

export const COMMON_FIELDS: readonly string[] = ['type', 'id', 'extras']
const MEDIA_FIELDS = ['url', 'base64', 'fileId', 'mimeType']
const FIELDS = new Map<unknown, readonly string[]>([
  ['text', ['text', 'annotations']],
  ['reasoning', ['text']],
  ['image', MEDIA_FIELDS],
  ['audio', MEDIA_FIELDS],
  ['video', MEDIA_FIELDS],
  ['file', MEDIA_FIELDS],
  ['toolCall', ['name', 'args']],
  ['invalidToolCall', ['name', 'args', 'error']],
  ['serverToolCall', ['name', 'args']],
  ['serverToolResult', ['toolCallId', 'status', 'output']],
  ['nonStandard', ['value']],
])

/** Whether a value is a block in the normal form, without other fields. */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (!isRecord(value)) return false
  const fields = FIELDS.get(value.type)
  if (!fields || !Object.keys(value).every((key) => COMMON_FIELDS.includes(key) || fields.includes(key)))
    return false
  if (fields.includes('text')) return typeof value.text === 'string'
  return value.type === 'invalidToolCall' || !fields.includes('args') || isRecord(value.args)
}

const MEDIA: readonly MediaType[] = ['image', 'audio', 'video']

/** The type of a media block by its MIME type: `file` for any other. */
export const mediaTypeOf = (mimeType: string | undefined): MediaType =>
  MEDIA.find((type) => mimeType?.startsWith(`${type}/`)) ?? 'file'

/**
 * Splits a base64 `data:` URL (RFC 2397). Undefined for any other value, also for a `data:` URL with plain
 * text. Takes time linear in the length of the part before the first comma: clients choose these URLs.
 */
export function splitDataUrl(
  url: unknown,
): { readonly mimeType: string | undefined; readonly base64: string } | undefined {
  if (typeof url !== 'string' || url.slice(0, 5).toLowerCase() !== 'data:') return undefined
  const comma = url.indexOf(',')
  const mark = comma - MARK.length
  if (mark < 5 || url.slice(mark, comma).toLowerCase() !== MARK) return undefined
  const end = url.indexOf(';')
  return { mimeType: url.slice(5, end) || undefined, base64: url.slice(comma + 1) }
}

const MARK = ';base64'
