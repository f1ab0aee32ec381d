import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models'
import {
  AIMessageChunk,
  type AIMessageChunkFields,
  type BaseMessage,
  type ContentBlock,
} from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'

/**
 * The model's next output: reasoning, text, images and files, and tool calls, in this order. All are
 * optional.
 */
export interface Reply {
  readonly reasoning?: string
  readonly text?: string
  readonly media?: readonly ContentBlock.Multimodal.Standard[]
  readonly calls?: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[]
  /** After its output, the model fails with this message, like one whose connection breaks. */
  readonly error?: string
}

/** Decides on a reply to the conversation. `tools` has the names of the bound tools. */
export type Script = (messages: readonly BaseMessage[], tools: readonly string[]) => Reply

export interface ScriptedModelOptions {
  readonly script: Script
  /** Delay before each token, in milliseconds. Default 22: about 45 tokens per second. */
  readonly delayMs?: number
  readonly tools?: readonly string[]
}

/**
 * A chat model without a network: a script decides what to say, and everything else works as with a provider.
 * It streams token by token, calls the tools it was given, counts usage (a word, a media block and a call are
 * one token each) and stops when its signal aborts.
 */
export class ScriptedModel extends BaseChatModel {
  readonly #options: ScriptedModelOptions

  constructor(options: ScriptedModelOptions) {
    super({})
    this.#options = options
  }

  override _llmType(): string {
    return 'scripted'
  }

  override bindTools(tools: BindToolsInput[]): ScriptedModel {
    const bound = new ScriptedModel({ ...this.#options, tools: tools.map(toolName) })
    if (this.callbacks) bound.callbacks = this.callbacks
    return bound
  }

  override async _generate(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined
    for await (const chunk of this._streamResponseChunks(messages, options, runManager))
      whole = whole === undefined ? chunk : whole.concat(chunk)
    return { generations: whole === undefined ? [] : [whole] }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { script, tools = [], delayMs = 22 } = this.#options
    const reply = script(messages, tools)
    const id = `ai-${crypto.randomUUID()}`
    for (const fields of pieces(reply)) {
      await pause(delayMs, options.signal)
      const message = new AIMessageChunk({ id, ...fields })
      const chunk = new ChatGenerationChunk({ text: message.text, message })
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk })
      yield chunk
    }
    if (reply.error !== undefined) throw new Error(reply.error)
    yield new ChatGenerationChunk({ text: '', message: lastChunk(id, messages, reply) })
  }
}

/**
 * The reply as a provider streams it: words, complete media, and calls in three pieces. Blocks with the same
 * index are merged.
 */
function* pieces({
  reasoning = '',
  text = '',
  media = [],
  calls = [],
}: Reply): Generator<AIMessageChunkFields> {
  let index = 0
  for (const word of words(reasoning)) yield { content: [{ type: 'reasoning', reasoning: word, index }] }
  if (reasoning !== '') index++
  // Text alone is a plain string, as most providers send it.
  const isPlain = reasoning === '' && media.length === 0
  for (const word of words(text)) yield { content: isPlain ? word : [{ type: 'text', text: word, index }] }
  index++
  for (const block of media) yield { content: [{ ...block, index: index++ }] }
  for (const { name, args } of calls) {
    const piece = (rest: object) => ({
      content: '',
      tool_call_chunks: [{ type: 'tool_call_chunk' as const, index, ...rest }],
    })
    const json = JSON.stringify(args)
    const half = Math.ceil(json.length / 2)
    yield piece({ id: `call-${crypto.randomUUID()}`, name, args: '' })
    yield piece({ args: json.slice(0, half) })
    yield piece({ args: json.slice(half) })
    index++
  }
}

/** Each word with the space before it. */
const words = (text: string): readonly string[] => text.match(/\s*\S+\s*$|\s*\S+/g) ?? []

function lastChunk(
  id: string,
  messages: readonly BaseMessage[],
  { reasoning = '', text = '', media = [], calls = [] }: Reply,
): AIMessageChunk {
  const input_tokens = messages.reduce((sum, message) => sum + message.text.split(/\s+/).length, 0)
  const output_tokens = words(reasoning).length + words(text).length + media.length + calls.length
  return new AIMessageChunk({
    id,
    content: '',
    response_metadata: { model_name: 'scripted', finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' },
    usage_metadata: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  })
}

function toolName(tool: BindToolsInput): string {
  const named = tool as { readonly name?: string; readonly function?: { readonly name: string } }
  return named.function?.name ?? named.name ?? ''
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
