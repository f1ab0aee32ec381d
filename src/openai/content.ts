import { splitDataUrl } from '../messages/data-url.ts'
import { type ContentBlock, encodeBlock } from '../messages/index.ts'
import { defined, isRecord } from '../messages/record.ts'
import { badRequest } from './errors.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * A message's content in the agents' format: a string or blocks. Throws 400 for a part that no agent can
 * read.
 */
export function contentOf(content: string | readonly Fields[] | undefined): string | readonly object[] {
  if (content === undefined || typeof content === 'string') return content ?? ''
  const blocks = content.map(blockOf)
  const [first] = blocks
  return blocks.length === 1 && first?.type === 'text' ? first.text : blocks.map(encodeBlock)
}

/** A content's text. */
export const plainText = (content: string | readonly Fields[] | undefined): string =>
  typeof content === 'string'
    ? content
    : (content ?? []).map(({ text }) => (typeof text === 'string' ? text : '')).join('')

/** A part of chat completions or of responses as a block. */
function blockOf(part: Fields): ContentBlock {
  const { type } = part
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: String(part.text ?? '') }
    case 'refusal':
      return { type: 'text', text: String(part.refusal ?? '') }
    case 'image_url':
    case 'input_image': {
      const { image_url: image, file_id: fileId, detail } = part
      const { url, detail: inner = detail } = isRecord(image) ? image : { url: image }
      const extras = typeof inner === 'string' ? { detail: inner } : undefined
      return { type: 'image', ...sourceOf(url), ...texts({ fileId }), ...defined({ extras }) }
    }
    case 'input_audio': {
      const { data, format } = isRecord(part.input_audio) ? part.input_audio : {}
      return { type: 'audio', ...texts({ base64: data }), mimeType: `audio/${String(format ?? 'wav')}` }
    }
    case 'file':
    case 'input_file': {
      const { file_data, file_url, file_id: fileId, filename } = isRecord(part.file) ? part.file : part
      const source = file_data === undefined ? sourceOf(file_url) : sourceOf(file_data, 'base64')
      const extras = typeof filename === 'string' ? { metadata: { filename } } : undefined
      return { type: 'file', ...source, ...texts({ fileId }), ...defined({ extras }) }
    }
    default:
      throw badRequest(
        `content: a part of the type ${JSON.stringify(String(type).slice(0, 100))} is not known.`,
      )
  }
}

/** A `data:` URL as its bytes. Any other value as a URL or base64, as `other` says. */
function sourceOf(value: unknown, other: 'url' | 'base64' = 'url') {
  if (typeof value !== 'string') return {}
  const inline = splitDataUrl(value)
  return inline ? defined(inline) : { [other]: value }
}

const texts = (fields: Fields): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
