import * as z from 'zod/mini'
import type { Read } from '../kit/parse.ts'
import { anything, list, nonEmpty, object, record } from '../kit/schema.ts'

/**
 * The body that `DefaultChatTransport` of `ai` 6 and 7 sends. Only the last message is read, and only what a
 * user may send in it.
 */

/** A message may have hundreds of parts: a long answer that the user approves. */
const MAX_ITEMS = 10_000

const partSchema = object({
  type: z.string(),
  text: z.optional(z.string()),
  url: z.optional(z.string()),
  mediaType: z.optional(z.string()),
  filename: z.optional(z.string()),
  toolCallId: z.optional(z.string()),
  state: z.optional(z.string()),
  output: anything,
  errorText: z.optional(z.string()),
  approval: z.optional(
    object({ id: z.string(), approved: z.optional(z.boolean()), reason: z.optional(z.string()) }),
  ),
})

const messageSchema = object({
  id: nonEmpty,
  role: z.enum(['user', 'assistant', 'system']),
  parts: list(partSchema, 0, MAX_ITEMS),
})

export const chatSchema = object({
  id: nonEmpty,
  /** Only the last message, or all of them. */
  message: z.optional(messageSchema),
  messages: z.optional(list(z.looseObject({ id: nonEmpty, role: z.string() }), 0, MAX_ITEMS)),
  trigger: z.optional(z.enum(['submit-message', 'regenerate-message'])),
  messageId: z.optional(z.string()),
  assistantId: z.optional(nonEmpty),
  /** Answers to `data-interrupt` questions, by id. */
  resume: z.optional(record),
  metadata: z.optional(record),
})

export const stopSchema = object({ messageId: z.optional(z.string()) })

export type ChatBody = Read<typeof chatSchema>
export type StopBody = Read<typeof stopSchema>
export type SentMessage = Read<typeof messageSchema>
export type SentPart = Read<typeof partSchema>

/** Reads the last message. */
export { messageSchema }
