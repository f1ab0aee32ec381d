import type { MediaType, Message } from '../../../messages/index.ts'

export interface WriteOptions {
  /**
   * Media that the model takes although not every model behind this API does. The AI SDK and servers that speak
   * Chat Completions have it; the others know what their models take.
   */
  readonly media?: readonly MediaType[]
}

/**
 * Writes a thread as the input of a call. Whatever happened in the thread, the API takes it: calls have results,
 * and what the API would refuse is changed or left out.
 */
export type WriteRequest = (messages: readonly Message[], options?: WriteOptions) => Record<string, unknown>
