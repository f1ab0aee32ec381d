import { mediaTypeOf, splitDataUrl } from '../../messages/content.ts'
import { type ContentBlock, encodeBlock } from '../../messages/index.ts'
import { defined, type Fields, isRecord } from '../../messages/record.ts'

/**
 * A message's content in the agents' format: a string or blocks. Parts that no agent can read are left out. A
 * value that is neither text nor parts becomes JSON.
 */
export function contentOf(content: unknown): string | readonly object[] {
  const parts = partsIn(content)
  if (!parts) return plainText(content)
  const blocks = parts.flatMap((part) => readable(blockOf(part)))
  const [first] = blocks
  return blocks.length === 1 && first?.type === 'text' ? first.text : blocks.map(encodeBlock)
}

/** A content's text. */
export function plainText(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = partsIn(content)
  if (!parts) return content == null ? '' : JSON.stringify(content)
  return parts.map((part) => (typeof part === 'string' ? part : String(part.text ?? ''))).join('')
}

/** A function's output as content: text and parts as they are, any other value as JSON. */
export const outputOf = (output: unknown): unknown =>
  output == null || typeof output === 'string' || partsIn(output)?.some((part) => blockOf(part))
    ? output
    : JSON.stringify(output)

/** The parts of a content. Undefined for any other value, such as the JSON of a function's output. */
function partsIn(content: unknown): readonly (string | Fields)[] | undefined {
  const parts: readonly unknown[] = Array.isArray(content) ? content : isPart(content) ? [content] : [null]
  return parts.every((part) => typeof part === 'string' || isPart(part)) ? (parts as Fields[]) : undefined
}

const isPart = (value: unknown): value is Fields => isRecord(value) && typeof value.type === 'string'

/** A block, unless it is a file without a source, which no provider takes. */
const readable = (block: ContentBlock | undefined): readonly ContentBlock[] =>
  block && (block.type === 'text' || 'url' in block || 'base64' in block || 'fileId' in block) ? [block] : []

/** A part of chat completions or of responses as a block. Undefined for a part that no agent can read. */
function blockOf(part: string | Fields): ContentBlock | undefined {
  if (typeof part === 'string') return { type: 'text', text: part }
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
    case 'video_url':
    case 'input_video': {
      const { url } = isRecord(part.video_url) ? part.video_url : { url: part.video_url }
      return { type: 'video', ...sourceOf(url), ...texts({ fileId: part.file_id }) }
    }
    case 'input_audio': {
      const { data, format } = isRecord(part.input_audio) ? part.input_audio : {}
      return { type: 'audio', ...texts({ base64: data }), mimeType: `audio/${String(format ?? 'wav')}` }
    }
    case 'file':
    case 'input_file': {
      const { file_data, file_url, file_id: fileId, filename } = isRecord(part.file) ? part.file : part
      const source = file_data === undefined ? sourceOf(file_url) : sourceOf(file_data, 'base64')
      const extras = typeof filename === 'string' ? { filename } : undefined
      const mimeType = 'mimeType' in source ? source.mimeType : undefined
      return {
        type: mediaTypeOf(mimeType),
        ...source,
        ...texts({ fileId }),
        ...defined({ extras }),
      }
    }
    default:
      return undefined
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

/**
 * Open WebUI puts the passages that it has found before what the user says, in the newest message only. The
 * default template begins with `### Task:`, and ends with `</context>`.
 */
const TEMPLATE = '### Task:'
const END = '</context>'

/** What the user says, after the template of a UI. Undefined for a text without one. */
function afterTemplate(text: string): string | undefined {
  if (!text.trimStart().startsWith(TEMPLATE)) return undefined
  const end = text.lastIndexOf(END)
  if (end < 0) return undefined
  const said = text.slice(end + END.length).trim()
  // Tasks about the chat end with the chat itself.
  return said === '' || said.includes('</chat_history>') ? undefined : withoutTags(said)
}

/** Earlier releases of Open WebUI put tags around what the user says. */
function withoutTags(said: string): string {
  const [open, close] = ['<user_query>', '</user_query>']
  const isTagged = said.startsWith(open) && said.endsWith(close)
  return isTagged ? said.slice(open.length, -close.length).trim() : said
}

/** A message's content without the template. */
export function withoutTemplate(content: unknown): unknown {
  if (typeof content === 'string') return afterTemplate(content) ?? content
  if (!Array.isArray(content)) return content
  return content.map((part: unknown) => {
    const { text } = Object(part) as { readonly text?: unknown }
    return typeof text === 'string' ? { ...(part as object), text: afterTemplate(text) ?? text } : part
  })
}

/**
 * Prompts that UIs send to the same model outside of the conversation: for titles, tags, follow-up questions,
 * searches, tools, emojis, and one answer of several.
 */
const TASK =
  /^\s*(### Task:|Provide a concise, 5-word-or-less title|Analyze this conversation and provide:|Please generate a (concise|short)\b.*\btitle|(Here is the query:|Create a concise, 3-5 word)|Your task is to reflect the speaker's likely facial expression|You have been provided with a set of responses from various models)/i

/** How Open WebUI asks which tool to call: its instructions are in the system's message. */
const TOOLS = /^\s*Available Tools:/

/** Whether the only message of a request is such a prompt. */
export const isTaskPrompt = (text: string, system: string): boolean =>
  (TASK.test(text) && afterTemplate(text) === undefined) ||
  (TOOLS.test(system) && /^\s*(Query|History):/.test(text))
