import { dropUndefined, fieldsOf, listOf } from '../fields.ts'
import { type Ask, type ModelAnswer, type ToolSchema, toolsOf } from './model.ts'

/** The part of `new Anthropic()` that is called. Those of Vertex and Bedrock have it, too. */
export interface AnthropicClient {
  readonly messages: {
    create(body: never, options?: { readonly signal?: AbortSignal }): PromiseLike<unknown>
  }
}

/** The API wants a limit, and this one is taken by every model. */
const MAX_TOKENS = 4096

export const askAnthropic: Ask<AnthropicClient> = (
  client,
  written,
  { model, settings, signal, ...input },
) => {
  const tools = toolsOf(input, ({ name, description, parameters }) =>
    dropUndefined({ name, description, input_schema: parameters }),
  )
  const body = { model, max_tokens: MAX_TOKENS, ...written, tools, stream: true, ...settings }
  return client.messages.create(
    dropUndefined(body) as never,
    dropUndefined({ signal }),
  ) as PromiseLike<ModelAnswer>
}

/** The part of `new BedrockRuntime()` that is called. `BedrockRuntimeClient` does not have it. */
export interface BedrockClient {
  converseStream(
    request: never,
    options?: { readonly abortSignal?: AbortSignal },
  ): PromiseLike<{ readonly stream?: AsyncIterable<unknown> | undefined }>
}

export const askBedrock: Ask<BedrockClient> = async (
  client,
  written,
  { model: modelId, settings, signal, ...input },
) => {
  // A thread with calls needs the tools that were called, also if the agent has none any more.
  const given = input.tools?.length ? input.tools : calledIn(written.messages)
  const tools = toolsOf({ ...input, tools: given }, ({ name, description, parameters }) => ({
    toolSpec: dropUndefined({ name, description, inputSchema: { json: parameters } }),
  }))
  const request = dropUndefined({ modelId, ...written, toolConfig: tools && { tools }, ...settings })
  const { stream } = await client.converseStream(request as never, dropUndefined({ abortSignal: signal }))
  return stream!
}

function calledIn(messages: unknown): ToolSchema[] {
  const uses = listOf(messages).flatMap((message) =>
    listOf(fieldsOf(message).content).flatMap((block) => fieldsOf(fieldsOf(block).toolUse).name ?? []),
  )
  return [...new Set(uses as string[])].map((name) => ({ name, parameters: { type: 'object' } }))
}

/** The part of `new GoogleGenAI()` that is called. */
export interface GeminiClient {
  readonly models: { generateContentStream(request: never): PromiseLike<unknown> }
}

/** `settings` are fields of `config`, where Google's SDK has all but the contents. */
export const askGemini: Ask<GeminiClient> = (client, written, { model, settings, signal, ...input }) => {
  const { contents, systemInstruction } = written
  const declared = toolsOf(input, ({ name, description, parameters }) =>
    dropUndefined({ name, description, parametersJsonSchema: parameters }),
  )
  const tools = declared && [{ functionDeclarations: declared }]
  const config = dropUndefined({ systemInstruction, tools, abortSignal: signal, ...settings })
  const request = { model, contents, config }
  return client.models.generateContentStream(request as never) as PromiseLike<ModelAnswer>
}

/** The part of `new Ollama()` that is called. */
export interface OllamaClient {
  chat(request: never): PromiseLike<unknown>
}

export const askOllama: Ask<OllamaClient> = async (
  client,
  written,
  { model, settings, signal, ...input },
) => {
  const tools = toolsOf(input, (tool) => ({ type: 'function', function: dropUndefined({ ...tool }) }))
  const request = dropUndefined({ model, ...written, tools, stream: true, ...settings })
  const answer = (await client.chat(request as never)) as ModelAnswer & { abort?(): void }
  // Its client takes no signal.
  signal?.addEventListener('abort', () => answer.abort?.(), { once: true })
  if (signal?.aborted) answer.abort?.()
  return answer
}

/** The part of `new OpenAI()` that is called. A server of the same shape has the same client. */
export interface ChatClient {
  readonly chat: {
    readonly completions: {
      create(body: never, options?: { readonly signal?: AbortSignal }): PromiseLike<unknown>
    }
  }
}

/** The part of `new OpenAI()` that is called for the Responses API. */
export interface ResponsesClient {
  readonly responses: {
    create(body: never, options?: { readonly signal?: AbortSignal }): PromiseLike<unknown>
  }
}

export const askCompletions: Ask<ChatClient> = (client, written, { model, settings, signal, ...input }) => {
  const tools = toolsOf(input, (tool) => ({ type: 'function', function: dropUndefined({ ...tool }) }))
  const body = {
    model,
    ...written,
    tools,
    stream: true,
    stream_options: { include_usage: true },
    ...settings,
  }
  return client.chat.completions.create(dropUndefined(body) as never, dropUndefined({ signal })) as Answer
}

export const askResponses: Ask<ResponsesClient> = (
  client,
  written,
  { model, settings, signal, ...input },
) => {
  const tools = toolsOf(input, (tool) => ({ type: 'function', ...dropUndefined({ ...tool }), strict: false }))
  const body = { model, ...written, tools, stream: true, ...settings }
  return client.responses.create(dropUndefined(body) as never, dropUndefined({ signal })) as Answer
}

type Answer = PromiseLike<ModelAnswer>
