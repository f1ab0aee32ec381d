import type { ContentBlock, Message, Usage } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import { countOf } from '../../../messages/usage.ts'
import { collect, type Fields, fieldsOf, listOf, manyOf, names, stringOf, toText } from '../fields.ts'
import { readBlock, readCitation, toCall, vocabulary } from '../reading/blocks.ts'
import { type CallKey, createCallKeys } from '../reading/calls.ts'
import { defineFormat } from '../reading/define.ts'
import {
  addError,
  addHead,
  addMetadata,
  addPart,
  type Choice,
  choiceOf,
  type Draft,
} from '../reading/draft.ts'
import { readInputMessage, roleOf, toRequest } from '../reading/request.ts'
import { cacheWrites, laterCounts, toUsage, withProviderCost } from '../reading/usage.ts'

/**
 * OpenAI Chat Completions, legacy completions, and the servers that speak them: DeepSeek, Groq, xAI,
 * Mistral's OpenAI shape, OpenRouter, vLLM, Perplexity, Moonshot, Azure, LiteLLM and others.
 */
export const openaiChat = defineFormat({
  name: 'openaiChat',
  provider: 'openai',
  detect(value) {
    const { choices, object, messages, model, prompt } = fieldsOf(value)
    if (!Array.isArray(choices)) return Array.isArray(messages) || (model && prompt) ? 'request' : undefined
    const { message, delta, text } = fieldsOf(choices[0])
    if (object === 'chat.completion.chunk') return 'chunk'
    return message || object === 'chat.completion' || (!delta && text !== undefined) ? 'response' : 'chunk'
  },
  readRequest(request) {
    const fields = fieldsOf(request)
    const { messages, prompt } = fields
    const input = prompt ? [{ role: 'user', content: prompt }] : messages
    return toRequest(fields, REQUEST, listOf(input).map(readMessage), input)
  },
  open: openChat,
})

export function openChat(draft: Draft): (chunk: Fields) => void {
  let tier: unknown
  let counts: Fields | undefined
  const callKeys: CallKey[] = []
  return (chunk) => {
    const { choices } = chunk
    const { usage: groqUsage, error: groqError } = fieldsOf(chunk.x_groq)
    const error = chunk.error ?? groqError
    const usage = chunk.usage ?? groqUsage ?? fieldsOf(listOf(choices)[0]).usage
    addHead(draft, chunk, RESPONSE)
    tier = chunk.service_tier ?? tier
    if (usage) {
      counts = laterCounts(counts, usage)
      if (chunk.usage) addHead(draft, { usage: counts })
      draft.usage = readUsage(counts, tier)
    }
    listOf(choices).forEach((value, position) => {
      const fields = fieldsOf(value)
      const choice = choiceOf(draft, typeof fields.index === 'number' ? fields.index : position)
      // Perplexity sends the message so far with each delta, and an empty delta with the whole message.
      const message = fieldsOf(
        choice.open ? (fields.delta ?? fields.message) : (fields.message ?? fields.delta),
      )
      readParts(choice, message, choice.open && (callKeys[choice.index] ??= createCallKeys()))
      // Together repeats the content as text.
      if (fields.text && message.content === undefined)
        addPart(choice, 'text', { type: 'text', text: toText(fields.text) })
      choice.reason = fields.finish_reason || choice.reason
      addMetadata(choice, fields, CHOICE)
      addMetadata(choice, message, MESSAGE)
    })
    if (error) addError(draft, error)
  }
}

const REQUEST = names('messages tools prompt')
const RESPONSE = names('id object choices obfuscation')
const CHOICE = names('index message delta text')
const MESSAGE = names(
  'role content refusal reasoning_content reasoning reasoning_details annotations audio images function_call tool_calls',
)
const CALL = names('index id type function custom name arguments input')
const INPUT = names('name tool_call_id', MESSAGE)

const VOCABULARY = vocabulary(
  {
    text: 'text',
    reasoning: 'thinking',
    image: 'image_url',
    video: 'video_url',
    audio: 'audio input_audio',
    file: 'file document_url',
  },
  {
    text: 'refusal thinking',
    url: 'image_url video_url file_url document_url',
    base64: 'data file_data input_audio',
    fileId: 'file_id',
  },
  { text: 'refusal' },
)

function readMessage(value: unknown): Message {
  const { role, name, tool_call_id: toolCallId } = fieldsOf(value)
  const extras = role && roleOf(role) !== role ? { role } : undefined
  return readInputMessage(value, readParts, INPUT, { name, toolCallId, extras })
}

/** Reads the blocks of a message or, given `callKey`, the pieces of blocks in a delta. */
function readParts(choice: Choice, message: Fields, callKey?: CallKey): void {
  const { content, refusal, audio, images, function_call: called, tool_calls: calls } = message
  const named = stringOf(message.reasoning_content)
  const thought = named || stringOf(message.reasoning)
  const details = listOf(message.reasoning_details)
  const annotations = listOf(message.annotations)
  const text = stringOf(content)
  if (thought || details.length > 0) {
    const from = named ? FROM.reasoning_content : thought ? FROM.reasoning : undefined
    const extras = details.length > 0 ? { ...from, reasoning_details: details } : from
    addPart(choice, 'reasoning', {
      type: 'reasoning',
      text: thought || details.map(thoughtOf).join(''),
      ...(extras && { extras }),
    })
  }
  let cited = annotations.length > 0 ? { annotations: annotations.map(readCitation) } : undefined
  if (content && !text) {
    const parts = manyOf(content)
    const last = cited && parts.findLastIndex(isText)
    for (let at = 0; at < parts.length; at++) {
      const block = readContentPart(parts[at])
      addPart(choice, undefined, at === last ? ({ ...block, ...cited } as ContentBlock) : block)
      if (at === last) cited = undefined
    }
  }
  if (text || cited) addPart(choice, 'text', { type: 'text', text, ...cited })
  if (refusal) addPart(choice, 'refusal', readBlock({ type: 'refusal', refusal }, VOCABULARY))
  if (audio) {
    const { id, ...others } = fieldsOf(audio)
    const given = collect(undefined, { file_id: id, ...others })
    // Some servers send all fields of a spoken answer with every written one.
    if (given && Object.values(given).some(Boolean))
      addPart(choice, 'audio', readBlock({ type: 'audio', ...given }, VOCABULARY))
  }
  for (const image of listOf(images)) addPart(choice, undefined, readBlock(image, VOCABULARY))
  if (called) readCall(choice, { function: called }, 0, callKey)
  listOf(calls).forEach((call, place) => {
    readCall(choice, fieldsOf(call), place, callKey)
  })
}

/** The name under which the thoughts came. Servers take them back under this name or not at all. */
const FROM = /* @__PURE__ */ Object.freeze({
  reasoning_content: /* @__PURE__ */ Object.freeze({ field: 'reasoning_content' }),
  reasoning: /* @__PURE__ */ Object.freeze({ field: 'reasoning' }),
  thinking: /* @__PURE__ */ Object.freeze({ field: 'thinking' }),
})

function readContentPart(part: unknown): ContentBlock {
  const block = readBlock(part, VOCABULARY)
  if (block.type !== 'reasoning') return block
  return { ...block, extras: block.extras ? { ...FROM.thinking, ...block.extras } : FROM.thinking }
}

const isText = (part: unknown): boolean => typeof part === 'string' || fieldsOf(part).type === 'text'

const thoughtOf = (detail: unknown): string => {
  const { text, summary } = fieldsOf(detail)
  return stringOf(text ?? summary)
}

function readCall(choice: Choice, call: Fields, place: number, callKey: CallKey | undefined): void {
  // Some servers send all fields of a call, of which those of the other kind are empty.
  const custom = collect(undefined, fieldsOf(call.custom))
  const fields = custom ?? fieldsOf(call.function)
  const { name, arguments: args } = fields
  // Some servers send a missing id as the text 'null'.
  const id = call.id === 'null' ? undefined : call.id
  const extras = collect(collect(custom ? { type: 'custom' } : undefined, call, CALL), fields, CALL)
  if (!id && !name && !args && !custom && !extras) return
  const known = custom ? { input: fields.input ?? '' } : callKey && !isRecord(args) ? undefined : args
  const raw = callKey && known === undefined ? toText(args) : ''
  const key = callKey?.(call.index, id, name, args ?? custom?.input, place)
  addPart(choice, key, toCall('toolCall', key ? key.id : id, key ? key.name : name, known, extras), raw)
}

function readUsage(usage: Fields, tier: unknown): Usage | undefined {
  const { prompt_tokens, completion_tokens } = usage
  if (prompt_tokens === undefined && completion_tokens === undefined) return undefined
  const prompt = fieldsOf(usage.prompt_tokens_details ?? usage.prompt_token_details)
  const completion = fieldsOf(usage.completion_tokens_details)
  const read = countOf(
    prompt.cached_tokens ||
      usage.cached_tokens ||
      usage.prompt_cache_hit_tokens ||
      usage.num_cached_tokens ||
      usage.cache_read_input_tokens,
  )
  // More cached tokens than prompt tokens show that the prompt leaves them out, as xAI's does.
  const input = countOf(prompt_tokens) + (read > countOf(prompt_tokens) ? read : 0)
  // xAI leaves reasoning out of the completion; Gemini's compatible endpoint counts it only in the total.
  const hidden = Math.max(0, countOf(usage.total_tokens) - input - countOf(completion_tokens))
  return toUsage(
    input,
    countOf(completion_tokens) + hidden,
    {
      cache_read: read,
      // Proxies send the same count under several names.
      ...cacheWrites(
        prompt.cache_write_tokens ||
          prompt.cache_creation_tokens ||
          prompt.cache_creation_input_tokens ||
          usage.cache_creation_input_tokens,
        prompt.cache_creation ?? prompt.cache_creation_token_details ?? usage.cache_creation,
      ),
      audio: prompt.audio_tokens,
      // The cached tokens include cached image tokens.
      image: read > 0 ? 0 : prompt.image_tokens,
    },
    {
      reasoning: Math.max(countOf(completion.reasoning_tokens ?? usage.reasoning_tokens), hidden),
      audio: completion.audio_tokens,
      image: completion.image_tokens,
    },
    tier,
    withProviderCost(usage),
  )
}
