import type { Message } from '../../messages/index.ts'

/**
 * Writes messages in the format of one provider or library, whichever format they come from. Blocks that it
 * cannot express are written unchanged.
 */
export interface Target {
  /** The name that a trace gives to the shape (`ls_message_format`). */
  readonly name: string
  writeRequest(messages: readonly Message[]): Record<string, unknown>
  /** Writes its output. Each message is a choice; a shape without choices takes the first message. */
  writeResponse(messages: readonly Message[]): Record<string, unknown>
}
