import * as z from 'zod/mini'
import { anything, list, nonEmpty, object } from '../kit/schema.ts'

/**
 * The bodies that AG-UI clients send. Source: the schemas of `@ag-ui/core` 1.0.0; those of 0.0.59 have the
 * same fields.
 */

/** The maximum length of a list whose items are validated individually. */
const MAX_ITEMS = 10_000

const text = z.string()

/** Clients before 0.0.50 send `binary`, whose source is in the part itself. */
const part = object({
  type: text,
  text: z.optional(text),
  source: z.optional(object({ type: text, value: text, mimeType: z.optional(text) })),
  mimeType: z.optional(text),
  url: z.optional(text),
  data: z.optional(text),
  id: z.optional(text),
  filename: z.optional(text),
  metadata: anything,
})

/** A user message, or the result of a client-side tool. */
export const incomingMessage = object({
  id: nonEmpty,
  content: z.optional(z.union([text, list(part, 0, MAX_ITEMS)], 'a string or a list of content parts')),
  name: z.optional(text),
  toolCallId: z.optional(text),
  error: z.optional(text),
})

/** Only these fields of messages that the thread already has are read. */
const message = z.looseObject({ id: text, role: text })

const tools = z.optional(
  list(object({ name: nonEmpty, description: z.optional(text), parameters: anything }), 0, MAX_ITEMS),
)

/** The client's ids for a thread and its run, and its capabilities. */
const client = { threadId: nonEmpty, runId: nonEmpty, protocolVersion: z.optional(text), tools }

export const RUN_INPUT = object({
  ...client,
  state: anything,
  messages: z.optional(list(message, 0, MAX_ITEMS)),
  context: z.optional(list(object({ description: z.optional(text), value: anything }), 0, MAX_ITEMS)),
  forwardedProps: anything,
  resume: z.optional(
    list(
      object({ interruptId: nonEmpty, status: z.enum(['resolved', 'cancelled']), payload: anything }),
      0,
      MAX_ITEMS,
    ),
  ),
})

export const CONNECT_INPUT = object(client)

/** From CopilotKit: the run that its page has started, if it knows one. */
export const STOP_INPUT = object({ runId: z.optional(text) })

export type RunInput = z.output<typeof RUN_INPUT>
export type ConnectInput = z.output<typeof CONNECT_INPUT>
export type StopInput = z.output<typeof STOP_INPUT>
export type IncomingMessage = z.output<typeof incomingMessage>
export type ContentPart = z.output<typeof part>
