import type { Message, Usage } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import { countOf } from '../../messages/usage.ts'
import { type BlockVocabulary, readBlock, readCitation, toCall } from '../reading/blocks.ts'
import { type CallKey, createCallKeys } from '../reading/calls.ts'
import { defineFormat } from '../reading/define.ts'
import {
  addError,
  addHead,
  addMetadata,
  addPart,
  type Choice,
  choiceOf,
  createDraft,
  type Draft,
} from '../reading/draft.ts'
import {
  byWireName,
  collect,
  type Fields,
  fieldsOf,
  listOf,
  names,
  stringOf,
  toText,
} from '../reading/fields.ts'
import { roleOf, toRequest } from '../reading/request.ts'
import { toUsage } from '../reading/usage.ts'

/**
 * OpenAI Chat Completions, legacy completions, and the servers that speak them: DeepSeek, Groq, xAI, Mistral's OpenAI shape,
 * OpenRouter, vLLM, Perplexity, Moonshot, Azure, LiteLLM and others.
 */
export const openaiChat = defineFormat({
  name: 'openaiChat',
  provider: 'openai',
  detect(value) {
    const { choices, object, messages } = fieldsOf(value)
    if (!Array.isArray(choices)) return Array.isArray(messages) ? 'request' : undefined
    const { message, delta, text } = fieldsOf(choices[0])
    if (object === 'chat.completion.chunk') return 'chunk'
    return message || object === 'chat.completion' || (!delta && text !== undefined) ? 'response' : 'chunk'
  },
  readRequest(request) {
    const fields = fieldsOf(request)
    const { messages, prompt } = fields
    const input = prompt ? [{ role: 'user', content: prompt }] : messages
    return toRequest(fields, REQUEST, listOf(input).map(readMessage), input, 'messages')
  },
  open: openChat,
})

/** Reads a response or the chunks of a stream. */
export function openChat(draft: Draft): (chunk: Fields) => void {
  let tier: unknown
  const callKeys: CallKey[] = []
  return (chunk) => {
    const { choices, error } = chunk
    const usage = chunk.usage ?? fieldsOf(chunk.x_groq).usage ?? fieldsOf(listOf(choices)[0]).usage
    addHead(draft, chunk, RESPONSE)
    tier = chunk.service_tier ?? tier
    if (usage) draft.usage = readUsage(fieldsOf(usage), tier)
    listOf(choices).forEach((value, position) => {
      const fields = fieldsOf(value)
      const choice = choiceOf(draft, typeof fields.index === 'number' ? fields.index : position)
      // Perplexity sends the message so far beside each delta, and an empty delta beside the whole message.
      const message = fieldsOf(
        choice.open ? (fields.delta ?? fields.message) : (fields.message ?? fields.delta),
      )
      readParts(choice, message, choice.open && (callKeys[choice.index] ??= createCallKeys()))
      if (fields.text) addPart(choice, 'text', { type: 'text', text: toText(fields.text) })
      choice.reason = fields.finish_reason ?? choice.reason
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

const VOCABULARY: BlockVocabulary = {
  types: byWireName({
    text: 'text',
    reasoning: 'thinking',
    image: 'image_url',
    video: 'video_url',
    audio: 'audio input_audio',
    file: 'file document_url',
  }),
  keptTypes: byWireName({ text: 'refusal' }),
  fields: byWireName({
    text: 'refusal thinking',
    url: 'image_url video_url file_url document_url',
    base64: 'data file_data input_audio',
    fileId: 'file_id',
  }),
}

function readMessage(value: unknown): Message {
  const message = fieldsOf(value)
  const { role, name, tool_call_id: toolCallId } = message
  const known = roleOf(role)
  const choice = choiceOf(createDraft(true))
  readParts(choice, value === message ? message : { content: value })
  const extras = collect(role && known !== role ? { role } : undefined, message, INPUT)
  return {
    role: known,
    ...(name ? { name: toText(name) } : undefined),
    content: choice.content,
    ...(toolCallId ? { toolCallId: toText(toolCallId) } : undefined),
    ...(extras && { extras }),
  }
}

/** Reads the blocks of a message or, given `callKey`, the pieces of blocks in a delta. */
function readParts(choice: Choice, message: Fields, callKey?: CallKey): void {
  const { content, refusal, audio, images, function_call: called, tool_calls: calls } = message
  const thought = stringOf(message.reasoning_content) || stringOf(message.reasoning)
  const details = listOf(message.reasoning_details)
  const annotations = listOf(message.annotations)
  const text = stringOf(content)
  if (thought || details.length > 0) {
    const extras = details.length > 0 && { extras: { reasoning_details: details } }
    addPart(choice, 'reasoning', { type: 'reasoning', text: thought, ...extras })
  }
  if (annotations.length > 0)
    addPart(choice, 'text', { type: 'text', text, annotations: annotations.map(readCitation) })
  else if (text) addPart(choice, 'text', { type: 'text', text })
  if (content && !text)
    for (const part of Array.isArray(content) ? content : [content])
      addPart(choice, undefined, readBlock(part, VOCABULARY))
  if (refusal) addPart(choice, 'refusal', readBlock({ type: 'refusal', refusal }, VOCABULARY))
  if (audio) {
    const { id, ...others } = fieldsOf(audio)
    addPart(choice, 'audio', readBlock({ type: 'audio', file_id: id, ...others }, VOCABULARY))
  }
  for (const image of listOf(images)) addPart(choice, undefined, readBlock(image, VOCABULARY))
  if (called) readCall(choice, { function: called }, 0, callKey)
  listOf(calls).forEach((call, place) => {
    readCall(choice, fieldsOf(call), place, callKey)
  })
}

function readCall(choice: Choice, call: Fields, place: number, callKey: CallKey | undefined): void {
  const { custom } = call
  const fields = fieldsOf(call.function ?? custom)
  const { name, arguments: args } = fields
  // Some servers send a missing id as the text 'null'.
  const id = call.id === 'null' ? undefined : call.id
  const extras = collect(collect(custom ? { type: 'custom' } : undefined, call, CALL), fields, CALL)
  const known = custom ? { input: fields.input ?? '' } : callKey && !isRecord(args) ? undefined : args
  const raw = callKey && known === undefined ? toText(args) : ''
  addPart(choice, callKey?.(call.index, id, name, place), toCall('toolCall', id, name, known, extras), raw)
}

function readUsage(usage: Fields, tier: unknown): Usage | undefined {
  const { prompt_tokens, completion_tokens, cost, cost_in_usd_ticks: ticks } = usage
  if (prompt_tokens === undefined && completion_tokens === undefined) return undefined
  const prompt = fieldsOf(usage.prompt_tokens_details ?? usage.prompt_token_details)
  const completion = fieldsOf(usage.completion_tokens_details)
  const read = countOf(
    prompt.cached_tokens ??
      usage.cached_tokens ??
      usage.prompt_cache_hit_tokens ??
      usage.num_cached_tokens ??
      usage.cache_read_input_tokens,
  )
  // More cached tokens than prompt tokens show that the prompt leaves them out, as xAI's does.
  const input = countOf(prompt_tokens) + (read > countOf(prompt_tokens) ? read : 0)
  // xAI leaves reasoning out of the completion; Gemini's compatible endpoint counts it only in the total.
  const hidden = Math.max(0, countOf(usage.total_tokens) - input - countOf(completion_tokens))
  const counted = toUsage(
    input,
    countOf(completion_tokens) + hidden,
    {
      cache_read: read,
      // Proxies send the same count under several names.
      cache_creation:
        prompt.cache_write_tokens ?? prompt.cache_creation_tokens ?? usage.cache_creation_input_tokens,
      audio: prompt.audio_tokens,
      // Cached image tokens stand among the cached ones as well.
      image: read > 0 ? 0 : prompt.image_tokens,
    },
    {
      reasoning: Math.max(countOf(completion.reasoning_tokens ?? usage.reasoning_tokens), hidden),
      audio: completion.audio_tokens,
      image: completion.image_tokens,
    },
    tier,
  )
  // xAI counts in ticks of 1e-10 dollars.
  const totalCost = countOf(fieldsOf(cost).total_cost ?? cost) || countOf(ticks) / 1e10
  return totalCost > 0 ? Object.assign(counted, { totalCost }) : counted
}
