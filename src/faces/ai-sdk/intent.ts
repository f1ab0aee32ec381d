import { HttpError } from '../../core/http/index.ts'
import { mediaTypeOf, splitDataUrl } from '../../messages/content.ts'
import { type ContentBlock, encodeMessage, type WireMessage } from '../../messages/index.ts'
import { readBy } from '../kit/body.ts'
import { userIdOf } from './parts.ts'
import { type ChatBody, messageSchema, type SentMessage, type SentPart } from './wire.ts'

/** What a page requests. Its other messages are its copy of the thread and are ignored. */
export type Intent =
  | {
      readonly kind: 'send'
      readonly message: SentMessage
      /** The assistant's message before it, which can answer open questions. */
      readonly before: unknown
    }
  /** Replaces the message with the same id. */
  | { readonly kind: 'edit'; readonly message: SentMessage }
  /** Regenerates the answer to this user message. */
  | { readonly kind: 'regenerate'; readonly userId: string }
  /** The page or its tools have answered the open questions. */
  | { readonly kind: 'continue'; readonly message: SentMessage | undefined }

/** Throws 400 if the body does not say what to do. */
export function intentOf({ message, messages = [], trigger, messageId, resume }: ChatBody): Intent {
  if (trigger === 'regenerate-message') {
    const user = message?.role === 'user' ? message : messages.findLast(({ role }) => role === 'user')
    const userId = user?.id ?? userIdOf(messageId ?? '')
    if (userId === undefined) throw invalid('messages: expected the user message whose answer to regenerate')
    return { kind: 'regenerate', userId }
  }
  const sent = messages.at(-1)
  const last =
    message ??
    (sent && readBy(messageSchema, sent, (why) => invalid(`messages.${messages.length - 1}.${why}`)))
  if (resume && last?.role !== 'user') return { kind: 'continue', message: last }
  if (!last) throw invalid('message or messages: expected a message')
  if (last.role === 'system') throw invalid('message: expected a user or assistant message')
  if (last.role === 'assistant') return { kind: 'continue', message: last }
  if (contentOf(last).length === 0) throw invalid('message: expected a part of type text or file')
  if (messageId === last.id) return { kind: 'edit', message: last }
  return { kind: 'send', message: last, before: messages.filter(({ id }) => id !== last.id).at(-1) }
}

export const invalid = (why: string): HttpError =>
  new HttpError(400, 'invalid_argument', why.endsWith('.') ? why : `${why}.`)

/** A user message in the agents' format, with its id. */
export const userMessage = (message: SentMessage): WireMessage =>
  encodeMessage({ role: 'user', id: message.id, content: contentOf(message) })

const contentOf = ({ parts }: SentMessage): readonly ContentBlock[] => parts.flatMap(blocksOf)

function blocksOf({ type, text, url, mediaType, filename }: SentPart): readonly ContentBlock[] {
  if (type === 'text') return text ? [{ type, text }] : []
  if (type !== 'file' || url === undefined) return []
  const inline = splitDataUrl(url)
  const mimeType = mediaType ?? inline?.mimeType
  return [
    {
      type: mediaTypeOf(mimeType),
      ...(inline ? { base64: inline.base64 } : { url }),
      ...(mimeType !== undefined && { mimeType }),
      ...(filename !== undefined && { extras: { filename } }),
    },
  ]
}
