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
 * Writes how long a model thought before its first word into the message, as `response_metadata.thinking_ms`: so pages know it that did not
 * watch. Providers tell what was thought, not how long.
 */
class ThinkingTime extends BaseCallbackHandler {
  override name = 'thinking-time'
  /** The message is complete only when this has written to it. */
  override awaitHandlers = true
  readonly #times = new Map<string, Times>()

  /** Of a model that is streamed in chunks. */
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

  /** Of a model that is streamed in events. */
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

/** The model, whose messages say how long it thought. */
export function withThinkingTime<Model extends BaseChatModel>(model: Model): Model {
  model.callbacks = [new ThinkingTime()]
  return model
}
