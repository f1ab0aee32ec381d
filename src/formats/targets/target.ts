import type { MediaType, Message } from '../../messages/index.ts'

export interface WriteOptions {
  /**
   * Media that the model takes although not every model behind this API does. The AI SDK and servers that speak
   * Chat Completions have it; the others know what their models take.
   */
  readonly media?: readonly MediaType[]
}

/** Writes messages in the format of one provider or library, whichever format they come from. */
export interface Target {
  /** The name that a trace gives to the shape (`ls_message_format`). */
  readonly name: string
  /**
   * Writes a thread as the input of a call. Whatever happened in the thread, the API takes it: calls have
   * results, and what the API would refuse is changed or left out.
   */
  writeRequest(messages: readonly Message[], options?: WriteOptions): Record<string, unknown>
  /**
   * Writes a model's output for readers of traces, with blocks that the format cannot express unchanged. Each
   * message is a choice; a shape without choices takes the first message.
   */
  writeResponse(messages: readonly Message[]): Record<string, unknown>
}
