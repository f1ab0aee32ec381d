import type { Message } from '../messages/index.ts'
import type { Format } from './format.ts'
import { anthropicMessages } from './providers/anthropic-messages.ts'
import { bedrockConverse } from './providers/bedrock/converse.ts'
import { cohere as cohereFormat } from './providers/cohere.ts'
import { gemini as geminiFormat } from './providers/gemini/gemini.ts'
import { mistral as mistralFormat } from './providers/mistral.ts'
import { ollama as ollamaFormat } from './providers/ollama.ts'
import { openaiChat } from './providers/openai-chat.ts'
import { openaiResponses as responsesFormat } from './providers/openai-responses.ts'
import { vercel } from './providers/vercel/vercel.ts'
import { anthropicTarget } from './targets/anthropic-messages.ts'
import { bedrockTarget } from './targets/bedrock.ts'
import { compatibleTarget, completionsTarget } from './targets/chat-completions.ts'
import { cohereTarget } from './targets/cohere.ts'
import { geminiTarget } from './targets/gemini.ts'
import { mistralTarget } from './targets/mistral.ts'
import { ollamaTarget } from './targets/ollama.ts'
import { responsesTarget } from './targets/responses.ts'
import type { Target, WriteOptions } from './targets/target.ts'
import { vercelTarget } from './targets/vercel.ts'

/**
 * An API of models: the format that reads its answers, and the target that writes its requests.
 *
 * Lists are typed as lists of nothing, which can be assigned to the list that an SDK wants: each SDK has a type
 * of its own for a message.
 */
export interface ModelApi<Request extends object = object> {
  readonly format: Format
  readonly target: Target
  /** Writes a thread as the input of a call, without anything that the API would refuse. */
  writeRequest(messages: readonly Message[], options?: WriteOptions): Request
}

interface Messages {
  messages: never[]
}

/* @__NO_SIDE_EFFECTS__ */
const api = <Request extends object>(format: Format, target: Target): ModelApi<Request> => ({
  format,
  target,
  writeRequest: (messages, options) => target.writeRequest(messages, options) as Request,
})

/** Anthropic Messages, also on Vertex. */
export const anthropic: ModelApi<Messages & { system?: never[] }> = api(anthropicMessages, anthropicTarget)

/** OpenAI Chat Completions, and servers that take no more than it: Azure, Groq, Cerebras, xAI. */
export const openai: ModelApi<Messages> = api(openaiChat, completionsTarget)

/** Servers that want back what they add to Chat Completions: DeepSeek, Kimi, vLLM, OpenRouter. */
export const openaiCompatible: ModelApi<Messages> = api(openaiChat, compatibleTarget)

/** OpenAI Responses. */
export const openaiResponses: ModelApi<{ instructions?: string; input: never[] }> = api(
  responsesFormat,
  responsesTarget,
)

/** Google Gemini, also on Vertex. */
export const gemini: ModelApi<{ systemInstruction?: never; contents: never[] }> = api(
  geminiFormat,
  geminiTarget,
)

/** Bedrock's Converse. */
export const bedrock: ModelApi<Messages & { system?: never[] }> = api(bedrockConverse, bedrockTarget)

/** Ollama's `chat`. */
export const ollama: ModelApi<Messages> = api(ollamaFormat, ollamaTarget)

/** Cohere's Chat API, version 2. */
export const cohere: ModelApi<Messages> = api(cohereFormat, cohereTarget)

/** Mistral's chat completions. */
export const mistral: ModelApi<Messages> = api(mistralFormat, mistralTarget)

/** Vercel's AI SDK. */
export const aiSdk: ModelApi<Messages> = api(vercel, vercelTarget)
