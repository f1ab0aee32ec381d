import * as z from 'zod/mini'
import type { Read } from '../face/parse.ts'
import { anything, list, nonEmpty, object, record, whole } from '../face/schema.ts'

/**
 * The bodies that OpenAI's clients send. Unknown keys are ignored: clients send many that no graph can use.
 */

const MAX_ITEMS = 10_000

const text = z.string()
const flag = z.optional(z.boolean())
const content = z.union([text, list(record, 0, MAX_ITEMS)], 'a string or an array of parts')

const calledFunction = object({ name: nonEmpty, arguments: z.optional(text) })

const chatMessage = object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z.optional(content),
  name: z.optional(text),
  tool_calls: z.optional(list(object({ id: nonEmpty, function: calledFunction }), 0, MAX_ITEMS)),
  tool_call_id: z.optional(text),
})

const chatTool = object({
  type: z.literal('function'),
  function: object({ name: nonEmpty, description: z.optional(text), parameters: z.optional(record) }),
})

/** SDKs accept strings of at most 512 characters as values. */
const metadata = z.optional(record)

export const chatSchema = object({
  model: nonEmpty,
  messages: list(chatMessage, 1, MAX_ITEMS),
  stream: flag,
  stream_options: z.optional(object({ include_usage: flag })),
  tools: z.optional(list(chatTool, 0, MAX_ITEMS)),
  metadata,
  n: z.optional(whole(1, 1)),
})

const inputItem = object({
  type: z.optional(text),
  role: z.optional(z.enum(['system', 'developer', 'user', 'assistant'])),
  content: z.optional(content),
  id: z.optional(text),
  call_id: z.optional(text),
  name: z.optional(text),
  arguments: z.optional(text),
  output: z.optional(content),
  approval_request_id: z.optional(text),
  approve: flag,
  reason: z.optional(text),
})

const responseTool = object({
  type: nonEmpty,
  name: z.optional(text),
  description: z.optional(text),
  parameters: z.optional(record),
  server_label: z.optional(text),
})

const number = z.optional(z.number('a number'))

export const responseSchema = object({
  model: nonEmpty,
  input: z.optional(z.union([text, list(inputItem, 0, MAX_ITEMS)], 'a string or an array of items')),
  instructions: z.optional(text),
  previous_response_id: z.optional(text),
  conversation: z.optional(z.union([text, object({ id: nonEmpty })], 'an id or an object with one')),
  background: flag,
  store: flag,
  stream: flag,
  tools: z.optional(list(responseTool, 0, MAX_ITEMS)),
  tool_choice: anything,
  parallel_tool_calls: flag,
  metadata,
  text: z.optional(record),
  reasoning: z.optional(record),
  truncation: z.optional(text),
  temperature: number,
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  top_logprobs: number,
  max_output_tokens: number,
  max_tool_calls: number,
  service_tier: z.optional(text),
  user: z.optional(text),
  safety_identifier: z.optional(text),
  prompt_cache_key: z.optional(text),
})

export const conversationSchema = object({ metadata, items: z.optional(list(inputItem, 0, 0)) })
export const conversationPatchSchema = object({ metadata: record })

export type ChatMessage = Read<typeof chatMessage>
export type ChatBody = Read<typeof chatSchema>
export type InputItem = Read<typeof inputItem>
export type ResponseBody = Read<typeof responseSchema>
