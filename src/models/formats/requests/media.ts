import type { ContentBlock, MediaBlock } from '../../../messages/index.ts'
import { fieldsOf } from '../fields.ts'
import { decodeBase64 } from '../reading/base64.ts'

/** The media type of a block: as given, without parameters, or else by its first bytes or its name. */
export function mimeTypeOf({ mimeType, base64, extras, url, type }: MediaBlock): string | undefined {
  // What a file is counts, and not what it was called: providers compare the two.
  if (type === 'image' || type === 'file')
    for (const start in STARTS) if (base64?.startsWith(start)) return STARTS[start]
  const given = mimeType?.toLowerCase().split(';').at(0)?.trim()
  if (given && !given.endsWith('/*') && given !== 'application/octet-stream') return SYNONYMS[given] ?? given
  const named = nameOf({ extras }) ?? (base64 === undefined ? url?.replace(/[?#].*/s, '') : undefined)
  const [, ending = ''] = /\.(\w+)$/.exec(named ?? '') ?? []
  return ENDINGS[ending.toLowerCase()] ?? (type === 'file' ? given : undefined)
}

const SYNONYMS: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/mp3': 'audio/mpeg',
}

/** The first letters of the base64 of files of each type. */
const STARTS: Readonly<Record<string, string>> = {
  iVBORw: 'image/png',
  '/9j/': 'image/jpeg',
  R0lGOD: 'image/gif',
  UklGR: 'image/webp',
  JVBERi: 'application/pdf',
}

const ENDINGS: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  csv: 'text/csv',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  json: 'application/json',
  xml: 'application/xml',
  svg: 'image/svg+xml',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
}

export const isMedia = (block: ContentBlock): block is MediaBlock =>
  block.type === 'image' || block.type === 'audio' || block.type === 'video' || block.type === 'file'

/** Whether it is a picture in one of the types that every model with eyes takes. */
export const isPicture = (media: MediaBlock): boolean =>
  /^image\/(png|jpeg|gif|webp)$/.test(mimeTypeOf(media) ?? (media.type === 'image' ? 'image/png' : ''))

export const isPdf = (media: MediaBlock): boolean => mimeTypeOf(media) === 'application/pdf'

/** Whether there is something in it, and base64 is base64. */
export const isSound = ({ base64, url, fileId }: MediaBlock): boolean =>
  base64 !== undefined ? /^[A-Za-z0-9+/]+={0,2}$/.test(base64) : Boolean(url ?? fileId)

/** An address that a provider can fetch. */
export const isWeb = ({ url }: MediaBlock): boolean => url !== undefined && /^https?:\/\//i.test(url)

/** The name of a file. Pages of LangGraph keep it in the block's `metadata`. */
export function nameOf({ extras }: Pick<MediaBlock, 'extras'>): string | undefined {
  const { filename = fieldsOf(extras?.metadata).filename } = extras ?? {}
  return typeof filename === 'string' && filename.trim() !== ''
    ? filename.replace(/\p{Surrogate}/gu, '\uFFFD')
    : undefined
}

const TEXTUAL =
  /^text\/|^application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|sql|csv|x-sh|x-ndjson)$|\+(json|xml)$/

/** The content of a file of text: tables, markup, code, pictures in SVG. */
export function contentOfFile(media: MediaBlock): string | undefined {
  if (media.base64 === undefined || !TEXTUAL.test(mimeTypeOf(media) ?? '')) return undefined
  try {
    const text = new TextDecoder().decode(decodeBase64(media.base64))
    return text.trim() === '' ? undefined : text
  } catch {
    return undefined // It is no base64.
  }
}

/** A file of text as text, under its name. */
export function textOfFile(media: MediaBlock): string | undefined {
  const content = contentOfFile(media)
  const name = nameOf(media)
  return content !== undefined && name !== undefined ? `${name}:\n\n${content}` : content
}

/** What stands for media that a model cannot get: what was said in them, or their name. */
export function noteOf(media: MediaBlock): string {
  const { type, url, extras } = media
  const { transcript } = extras ?? {}
  if (typeof transcript === 'string' && transcript.trim() !== '') return transcript
  const kind = { image: 'picture', audio: 'recording', video: 'video', file: 'file' }[type]
  const about = [nameOf(media), mimeTypeOf(media), isWeb(media) ? url : undefined]
  const known = about.filter((text) => text !== undefined).join(', ')
  return `[A ${kind} that cannot be shown here${known && `: ${known}`}]`
}
