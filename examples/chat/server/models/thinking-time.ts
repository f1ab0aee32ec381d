import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import type { ChatModelStreamEvent } from '@langchain/core/language_models/event'
import type { BaseMessage } from '@langchain/core/messages'
import type { LLMResult } from '@langchain/core/outputs'

interface Times {
  readonly began: number
  ended?: number
}

/**
 * Writes how long a model reasoned before its first word to `response_metadata.thinking_ms` of the message,
 * so that pages that did not watch know it. Providers send the reasoning, but not its duration.
 */
class ThinkingTime extends BaseCallbackHandler {
  override name = 'thinking-time'
  /** The message is only complete when this has written to it. */
  override awaitHandlers = true
  readonly #times = new Map<string, Times>()

  /** For a model that streams chunks. */
  override handleLLMNewToken(
    _token: string,
    _at: unknown,
    runId: string,
    _parentRunId?: string,
    _tags?: string[],
    fields?: { readonly chunk?: unknown },
  ): void {
    const { message } = (fields?.chunk ?? {}) as { readonly message?: BaseMessage }
    if (message !== undefined) this.#note(runId, thinks(message))
  }

  /** For a model that streams events. */
  override handleChatModelStreamEvent(event: ChatModelStreamEvent, runId: string): void {
    if (event.event === 'content-block-start') this.#note(runId, isThought(event.content))
  }

  #note(runId: string, isThinking: boolean): void {
    const times = this.#times.get(runId)
    if (times === undefined && isThinking) this.#times.set(runId, { began: performance.now() })
    else if (times && !isThinking) times.ended ??= performance.now()
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const times = this.#times.get(runId)
    this.#times.delete(runId)
    const { message } = (generations[0]?.[0] ?? {}) as { readonly message?: BaseMessage }
    if (times === undefined || message === undefined) return
    const thinking_ms = Math.round((times.ended ?? performance.now()) - times.began)
    message.response_metadata = { ...message.response_metadata, thinking_ms }
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#times.delete(runId)
  }
}

const thinks = ({ content }: BaseMessage): boolean => Array.isArray(content) && content.some(isThought)

const isThought = ({ type }: { readonly type: string }): boolean =>
  type === 'reasoning' || type === 'thinking'

/** The model, with the reasoning time in its messages. */
export function withThinkingTime<Model extends BaseChatModel>(model: Model): Model {
  model.callbacks = [new ThinkingTime()]
  return model
}
