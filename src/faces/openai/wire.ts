import * as z from 'zod/mini'
import type { Read } from '../kit/parse.ts'
import { anything, integer, list, nonEmpty, object, record } from '../kit/schema.ts'

/**
 * The bodies that OpenAI's clients send. Unknown keys are ignored: clients send many that no graph can use.
 */

const MAX_ITEMS = 10_000

const text = z.string()
const flag = z.optional(z.boolean())
/** Some clients send a list of strings. */
const parts = list(z.union([text, record], 'a string or an object'), 0, MAX_ITEMS)
const content = z.union([text, parts, record], 'a string or an array of parts')

/** Some clients send the arguments as an object. */
const calledFunction = object({ name: text, arguments: anything })

const chatMessage = object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z.optional(content),
  name: z.optional(text),
  tool_calls: z.optional(
    list(
      object({
        id: z.optional(text),
        function: z.optional(calledFunction),
        custom: z.optional(object({ name: text, input: anything })),
      }),
      0,
      MAX_ITEMS,
    ),
  ),
  function_call: z.optional(calledFunction),
  tool_call_id: z.optional(text),
})

/** Of any type: the ones that no agent can use are left out. */
const tools = z.optional(list(anything, 0, MAX_ITEMS))

/** SDKs accept strings of at most 512 characters as values. */
const metadata = z.optional(record)

export const chatSchema = object({
  model: nonEmpty,
  messages: list(chatMessage, 1, MAX_ITEMS),
  stream: flag,
  stream_options: z.optional(object({ include_usage: flag })),
  tools,
  metadata,
  n: z.optional(integer(1, 1)),
})

const inputItem = z.looseObject({
  type: z.optional(text),
  role: z.optional(text),
  content: anything,
  id: z.optional(text),
  call_id: z.optional(text),
  tool_call_id: z.optional(text),
  name: z.optional(text),
  arguments: anything,
  input: anything,
  output: anything,
  approval_request_id: z.optional(text),
  approve: flag,
  reason: z.optional(text),
})

const number = z.optional(z.number('a number'))

export const responseSchema = object({
  model: nonEmpty,
  input: z.optional(
    z.union(
      [text, list(z.union([text, inputItem], 'an item'), 0, MAX_ITEMS)],
      'a string or an array of items',
    ),
  ),
  instructions: z.optional(text),
  previous_response_id: z.optional(text),
  conversation: z.optional(z.union([text, object({ id: nonEmpty })], 'an id or an object with one')),
  background: flag,
  store: flag,
  stream: flag,
  tools,
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

/** As many as OpenAI takes at once. */
const MAX_ADDED = 20

export const conversationSchema = object({ metadata, items: z.optional(list(inputItem, 0, MAX_ADDED)) })
export const itemsSchema = object({ items: list(inputItem, 1, MAX_ADDED) })
/** For a count of tokens. */
export const tokensSchema = object({ input: anything, instructions: z.optional(text), tools })
export const conversationPatchSchema = object({ metadata: record })

export type ChatMessage = Read<typeof chatMessage>
export type ChatBody = Read<typeof chatSchema>
export type InputItem = Read<typeof inputItem>
export type ResponseBody = Read<typeof responseSchema>
export type ConversationBody = Read<typeof conversationSchema>
export type ConversationPatch = Read<typeof conversationPatchSchema>
export type ItemsBody = Read<typeof itemsSchema>
export type TokensBody = Read<typeof tokensSchema>
