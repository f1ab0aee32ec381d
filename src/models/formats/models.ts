import type { Message } from '../../messages/index.ts'
import { type AiSdkModel, askAiSdk } from './calls/ai-sdk.ts'
import {
  type Ask,
  type Model,
  type ModelAnswer,
  type ModelInput,
  type ModelSettings,
  type ToolSchema,
  withInstructions,
} from './calls/model.ts'
import {
  type AnthropicClient,
  askAnthropic,
  askBedrock,
  askCompletions,
  askGemini,
  askOllama,
  askResponses,
  type BedrockClient,
  type ChatClient,
  type GeminiClient,
  type OllamaClient,
  type ResponsesClient,
} from './calls/providers.ts'
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
import { writeResponses } from './requests/responses.ts'
import { writeAiSdk } from './requests/vercel.ts'
import type { WriteOptions, WriteRequest } from './requests/write.ts'

export type {
  AiSdkModel,
  AnthropicClient,
  BedrockClient,
  ChatClient,
  GeminiClient,
  Model,
  ModelAnswer,
  ModelInput,
  ModelSettings,
  OllamaClient,
  ResponsesClient,
  ToolSchema,
  WriteOptions,
}

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

/**
 * An API whose client can be asked. Called with a model's name and the client of the provider's SDK, it gives the
 * model that `defineAgent` takes.
 *
 * ```ts
 * const model = openai('gpt-5-mini', new OpenAI())
 * ```
 */
export interface ClientApi<Client, Request extends object> extends ModelApi<Request> {
  /** @param settings More fields of each request, under the provider's names. */
  (model: string, client: Client, settings?: ModelSettings): Model
}

/** The models of the AI SDK, of any provider. */
export interface AiSdkApi extends ModelApi<{ messages: never[] }> {
  /** @param settings More options of each call, such as `{ temperature: 0 }`. */
  (model: AiSdkModel, settings?: ModelSettings): Model
}

/* @__NO_SIDE_EFFECTS__ */
const api = <Request extends object>(format: Format, write: WriteRequest): ModelApi<Request> => ({
  format,
  writeRequest: (messages, options) => write(messages, options) as Request,
})

/* @__NO_SIDE_EFFECTS__ */
const clientApi = <Client, Request extends object>(
  format: Format,
  write: WriteRequest,
  ask: Ask<Client>,
): ClientApi<Client, Request> =>
  Object.assign(
    (model: string, client: Client, settings: ModelSettings = {}): Model => ({
      format,
      stream: (input) => ask(client, write(withInstructions(input)), { ...input, model, settings }),
    }),
    api<Request>(format, write),
  )

/** Anthropic Messages, also on Vertex. */
export const anthropic: ClientApi<AnthropicClient, { messages: never[]; system?: never[] }> = clientApi(
  anthropicMessages,
  writeAnthropic,
  askAnthropic,
)

/** OpenAI Chat Completions, and servers that take no more than it: Azure, Groq, Cerebras, xAI. */
export const openai: ClientApi<ChatClient, { messages: never[] }> = clientApi(
  openaiChat,
  writeCompletions,
  askCompletions,
)

/** Servers that want back what they add to Chat Completions: DeepSeek, Kimi, vLLM, OpenRouter. */
export const openaiCompatible: ClientApi<ChatClient, { messages: never[] }> = clientApi(
  openaiChat,
  writeCompatible,
  askCompletions,
)

/** OpenAI Responses. */
export const openaiResponses: ClientApi<ResponsesClient, { instructions?: string; input: never[] }> =
  clientApi(responsesFormat, writeResponses, askResponses)

/** Google Gemini, also on Vertex. */
export const gemini: ClientApi<GeminiClient, { systemInstruction?: never; contents: never[] }> = clientApi(
  geminiFormat,
  writeGemini,
  askGemini,
)

/** Bedrock's Converse. Its client is `new BedrockRuntime()`. */
export const bedrock: ClientApi<BedrockClient, { messages: never[]; system?: never[] }> = clientApi(
  bedrockConverse,
  writeBedrock,
  askBedrock,
)

/** Ollama's `chat`. */
export const ollama: ClientApi<OllamaClient, { messages: never[] }> = clientApi(
  ollamaFormat,
  writeOllama,
  askOllama,
)

/** Cohere's Chat API, version 2. */
export const cohere: ModelApi<{ messages: never[] }> = api(cohereFormat, writeCohere)

/** Mistral's chat completions. */
export const mistral: ModelApi<{ messages: never[] }> = api(mistralFormat, writeMistral)

/** Vercel's AI SDK. */
export const aiSdk: AiSdkApi = /* @__PURE__ */ Object.assign(
  (model: AiSdkModel, settings: ModelSettings = {}): Model => askAiSdk(vercel, writeAiSdk, model, settings),
  /* @__PURE__ */ api<{ messages: never[] }>(vercel, writeAiSdk),
)
