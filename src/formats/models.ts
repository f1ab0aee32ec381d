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
import { writeAnthropic } from './requests/anthropic-messages.ts'
import { writeBedrock } from './requests/bedrock.ts'
import { writeCompatible, writeCompletions } from './requests/chat-completions.ts'
import { writeCohere } from './requests/cohere.ts'
import { writeGemini } from './requests/gemini.ts'
import { writeMistral } from './requests/mistral.ts'
import { writeOllama } from './requests/ollama.ts'
import type { WriteOptions, WriteRequest } from './requests/request.ts'
import { writeResponses } from './requests/responses.ts'
import { writeAiSdk } from './requests/vercel.ts'

export type { WriteOptions }

/**
 * An API of models: the format that reads its answers, and what writes its requests.
 *
 * Lists are typed as lists of nothing, which can be assigned to the list that an SDK wants: each SDK has a type
 * of its own for a message.
 */
export interface ModelApi<Request extends object = object> {
  readonly format: Format
  /** Writes a thread as the input of a call, without anything that the API would refuse. */
  writeRequest(messages: readonly Message[], options?: WriteOptions): Request
}

/* @__NO_SIDE_EFFECTS__ */
const api = <Request extends object>(format: Format, write: WriteRequest): ModelApi<Request> => ({
  format,
  writeRequest: (messages, options) => write(messages, options) as Request,
})

/** Anthropic Messages, also on Vertex. */
export const anthropic: ModelApi<{ messages: never[]; system?: never[] }> = api(
  anthropicMessages,
  writeAnthropic,
)

/** OpenAI Chat Completions, and servers that take no more than it: Azure, Groq, Cerebras, xAI. */
export const openai: ModelApi<{ messages: never[] }> = api(openaiChat, writeCompletions)

/** Servers that want back what they add to Chat Completions: DeepSeek, Kimi, vLLM, OpenRouter. */
export const openaiCompatible: ModelApi<{ messages: never[] }> = api(openaiChat, writeCompatible)

/** OpenAI Responses. */
export const openaiResponses: ModelApi<{ instructions?: string; input: never[] }> = api(
  responsesFormat,
  writeResponses,
)

/** Google Gemini, also on Vertex. */
export const gemini: ModelApi<{ systemInstruction?: never; contents: never[] }> = api(
  geminiFormat,
  writeGemini,
)

/** Bedrock's Converse. */
export const bedrock: ModelApi<{ messages: never[]; system?: never[] }> = api(bedrockConverse, writeBedrock)

/** Ollama's `chat`. */
export const ollama: ModelApi<{ messages: never[] }> = api(ollamaFormat, writeOllama)

/** Cohere's Chat API, version 2. */
export const cohere: ModelApi<{ messages: never[] }> = api(cohereFormat, writeCohere)

/** Mistral's chat completions. */
export const mistral: ModelApi<{ messages: never[] }> = api(mistralFormat, writeMistral)

/** Vercel's AI SDK. */
export const aiSdk: ModelApi<{ messages: never[] }> = api(vercel, writeAiSdk)
