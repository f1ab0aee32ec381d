import type { BaseMessage } from '@langchain/core/messages'
import { type Block, blocksOf } from './messages.ts'

/** An image or another file of a message, as the page shows it. */
export interface Media {
  readonly kind: 'image' | 'audio' | 'video' | 'file'
  readonly name: string
  readonly mimeType: string
  /** An address or a data URL. */
  readonly url: string
}

/** The images and files of a message. */
export const mediaOf = (message: BaseMessage): readonly Media[] =>
  blocksOf(message).flatMap((block) => mediaOfBlock(block) ?? [])

const KINDS: readonly string[] = ['image', 'audio', 'video', 'file'] satisfies Media['kind'][]

function mediaOfBlock(block: Block): Media | undefined {
  if (!KINDS.includes(block.type)) return undefined
  const kind = block.type as Media['kind']
  // LangChain writes `mimeType` and `data`, the protocol `mime_type` and `base64`.
  const mimeType = text(block.mimeType) ?? text(block.mime_type) ?? 'application/octet-stream'
  const data = text(block.data) ?? text(block.base64)
  const url = data === undefined ? safeUrl(text(block.url)) : `data:${mimeType};base64,${data}`
  if (url === undefined) return undefined
  const { filename, name } = (block.metadata ?? {}) as Readonly<Record<string, unknown>>
  return { kind, mimeType, url, name: text(filename) ?? text(name) ?? kind }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const safeUrl = (url: string | undefined): string | undefined =>
  url !== undefined && /^(https?:|blob:|data:)/i.test(url) ? url : undefined
