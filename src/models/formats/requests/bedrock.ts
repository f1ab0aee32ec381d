import type { ContentBlock, MediaBlock } from '../../../messages/index.ts'
import { dropUndefined, fieldsOf, nonEmpty } from '../fields.ts'
import { decodeBase64 } from '../reading/base64.ts'
import { isPicture, isSound, mimeTypeOf, nameOf } from './media.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import {
  isFilled,
  mergeTurns,
  NO_OUTPUT,
  splitSystem,
  type WriteRequest,
  withoutLastThoughts,
} from './write.ts'

type Item = Record<string, unknown>

/** Bedrock's `Converse`: `system` and `messages`. Bytes are `Uint8Array`s, as AWS's SDK takes them. */
export const writeBedrock: WriteRequest = (messages) => {
  const { system, turns } = splitSystem(prepareThread(messages, RULES))
  const names = new Set<string>()
  const write = (message: PreparedMessage) => writeTurn(message, names)
  const written = mergeTurns<Item>(withoutLastThoughts(turns), write)
  return dropUndefined({
    system: nonEmpty(system.map(({ text }) => ({ text }))),
    messages: written.map(introduce),
  })
}

const RULES: Rules = {
  takes(media, place) {
    if (media.base64 === undefined && !/^s3:/.test(media.url ?? '')) return false
    const [kind] = formatOf(media) ?? []
    return kind !== undefined && (place === 'user' || (place === 'tool' && kind !== 'video'))
  },
  owns(block, place) {
    const { signature, redactedContent } = block.extras ?? {}
    if (block.type === 'reasoning') return isFilled(signature) || isFilled(redactedContent)
    if (block.type !== 'nonStandard' || place === 'tool') return false
    return fieldsOf(fieldsOf(block.value).cachePoint).type === 'default'
  },
}

const DOCUMENTS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
}

/** The member of the union of blocks that media are, and their format in it. */
function formatOf(media: MediaBlock): readonly [kind: string, format: string] | undefined {
  const type = mimeTypeOf(media) ?? ''
  const document = DOCUMENTS[type]
  const [, video] = /^video\/(mp4|webm|mpeg|quicktime|x-matroska|3gpp|x-flv|x-ms-wmv)$/.exec(type) ?? []
  if (isPicture(media)) return ['image', type.slice(6) || 'png']
  if (document) return ['document', document]
  return video === undefined ? undefined : ['video', VIDEOS[video] ?? video]
}

const VIDEOS: Readonly<Record<string, string>> = {
  quicktime: 'mov',
  'x-matroska': 'mkv',
  '3gpp': 'three_gp',
  'x-flv': 'flv',
  'x-ms-wmv': 'wmv',
}

function writeTurn(message: PreparedMessage, names: Set<string>) {
  const { role, toolCallId: toolUseId, status, content } = message
  const blocks = content.map((block) => writeBlock(block, names)).filter((item) => item !== undefined)
  if (role !== 'tool') return { role: role === 'user' ? 'user' : 'assistant', content: blocks }
  const result = dropUndefined({
    toolUseId,
    content: blocks.length > 0 ? blocks : [{ text: NO_OUTPUT }],
    status: status === 'error' ? status : undefined,
  })
  return { role: 'user', content: [{ toolResult: result }] }
}

/** A document needs a text beside it. */
function introduce<Turn extends { readonly content: readonly Item[] }>(turn: Turn): Turn {
  const { content } = turn
  const isBare = content.some(({ document }) => document) && !content.some(({ text }) => text !== undefined)
  return isBare ? { ...turn, content: [...content, { text: 'The file is attached.' }] } : turn
}

function writeBlock(block: ContentBlock, names: Set<string>): Item | undefined {
  const { id, extras = {} } = block
  switch (block.type) {
    case 'text':
      return { text: block.text }
    case 'reasoning':
      return isFilled(extras.redactedContent)
        ? { reasoningContent: { redactedContent: decodeBase64(extras.redactedContent) } }
        : {
            reasoningContent: {
              reasoningText: dropUndefined({ text: block.text, signature: extras.signature }),
            },
          }
    case 'toolCall':
      return { toolUse: { toolUseId: id, name: block.name, input: block.args } }
    case 'nonStandard':
      return { cachePoint: { type: 'default' } }
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return writeMedia(block, names)
    default:
      return undefined
  }
}

function writeMedia(media: MediaBlock, names: Set<string>): Item | undefined {
  const [kind, format] = formatOf(media) ?? []
  if (kind === undefined || !isSound(media)) return undefined
  const source =
    media.base64 === undefined ? { s3Location: { uri: media.url } } : { bytes: decodeBase64(media.base64) }
  const name = kind === 'document' ? freeName(media, names) : undefined
  return { [kind]: dropUndefined({ format, name, source }) }
}

/** A name in the letters that Bedrock takes, which no other document of the request has. */
function freeName(media: MediaBlock, names: Set<string>): string {
  const given = nameOf(media)?.replace(/\.\w+$/, '') ?? ''
  const base = given
    .replace(/[^a-zA-Z0-9\-()[\] ]+/g, '-')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, 180)
  let name = base || 'document'
  for (let at = 2; names.has(name); at++) name = `${base || 'document'} (${at})`
  names.add(name)
  return name
}
