import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage, type ToolCallChunk } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'

/** What the model says next: text, calls of tools, or both. */
export interface Reply {
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[]
}

/** Reads the conversation and decides. `tools` names the tools that are bound. */
export type Script = (messages: readonly BaseMessage[], tools: readonly string[]) => Reply

export interface ScriptedModelOptions {
  readonly script: Script
  /** Pause before each token, in milliseconds. Default 15. */
  readonly delayMs?: number
  readonly tools?: readonly string[]
}

/**
 * A chat model without a network: a script decides what to say, and everything else is as with a provider. It streams token by
 * token, calls the tools it was given, counts usage (one word is one token) and stops when its signal aborts.
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
    return new ScriptedModel({ ...this.#options, tools: tools.map(toolName) })
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
    const { script, tools = [], delayMs = 15 } = this.#options
    const reply = script(messages, tools)
    const id = `ai-${crypto.randomUUID()}`
    const tokens = (reply.text ?? '').match(/\s*\S+\s*$|\s*\S+/g) ?? []
    for (const text of tokens) {
      await pause(delayMs, options.signal)
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk({ id, content: text }) })
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
      yield chunk
    }
    for (const piece of callPieces(reply)) {
      await pause(delayMs, options.signal)
      const message = new AIMessageChunk({ id, content: '', tool_call_chunks: [piece] })
      yield new ChatGenerationChunk({ text: '', message })
    }
    yield new ChatGenerationChunk({ text: '', message: lastChunk(id, messages, reply, tokens.length) })
  }
}

/** The calls as a provider streams them: the name first, then the arguments in two halves. */
function* callPieces({ calls = [] }: Reply): Generator<ToolCallChunk> {
  for (const [at, { name, args }] of calls.entries()) {
    // Block 0 is the text's: with the same index, text and call would be merged into one block.
    const index = at + 1
    const json = JSON.stringify(args)
    const half = Math.ceil(json.length / 2)
    yield { type: 'tool_call_chunk', index, id: `call-${crypto.randomUUID()}`, name, args: '' }
    yield { type: 'tool_call_chunk', index, args: json.slice(0, half) }
    yield { type: 'tool_call_chunk', index, args: json.slice(half) }
  }
}

function lastChunk(
  id: string,
  messages: readonly BaseMessage[],
  reply: Reply,
  words: number,
): AIMessageChunk {
  const input_tokens = messages.reduce((sum, message) => sum + message.text.split(/\s+/).length, 0)
  const output_tokens = words + (reply.calls?.length ?? 0)
  return new AIMessageChunk({
    id,
    content: '',
    response_metadata: { model_name: 'scripted', finish_reason: reply.calls?.length ? 'tool_calls' : 'stop' },
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
