import type { BaseMessage } from '@langchain/core/messages'

/** A message block, with the spellings of LangChain and of the wire. */
interface Block {
  readonly type: string
  readonly mimeType?: string
  readonly mime_type?: string
  readonly data?: unknown
  readonly url?: string
  readonly metadata?: { readonly filename?: string; readonly name?: string }
}

const KINDS: readonly string[] = ['image', 'file', 'audio', 'video']

/** A message's attachments as a Markdown list: name, type and size of each. Empty if there are none. */
export function describeAttachments(message: BaseMessage): string {
  const blocks = (message.contentBlocks as readonly Block[]).filter(({ type }) => KINDS.includes(type))
  if (blocks.length === 0) return ''
  const count = blocks.length === 1 ? 'one attachment' : `${blocks.length} attachments`
  return `I got ${count}:\n\n${blocks.map((block) => `- ${describe(block)}`).join('\n')}`
}

function describe({ type, mimeType, mime_type, data, url, metadata }: Block): string {
  const name = metadata?.filename ?? metadata?.name ?? `a nameless ${type}`
  const where = typeof data === 'string' ? sizeOf(data) : url === undefined ? 'of unknown size' : `at ${url}`
  return `**${name}** (\`${mimeType ?? mime_type ?? type}\`), ${where}`
}

/** The decoded size of base64. */
function sizeOf(base64: string): string {
  const bytes = Buffer.from(base64, 'base64').length
  return bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`
}
