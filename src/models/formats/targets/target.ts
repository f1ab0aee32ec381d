import type { FinishReason, Message, Role } from '../../../messages/index.ts'
import { roleOf } from '../reading/request.ts'

/**
 * The shape in which a trace tells a model call, whichever format the call was made in. It tells what was sent
 * and what came back: nothing is added or left out, and what the shape cannot express is written unchanged. A
 * request for a provider is written by `agentwire/models`.
 */
export interface Target {
  /** The name that a trace gives to the shape (`ls_message_format`). */
  readonly name: string
  /** Writes the messages of a request. */
  writeInputs(messages: readonly Message[]): Record<string, unknown>
  /** Writes a model's output. Each message is a choice; a shape without choices takes the first message. */
  writeOutputs(messages: readonly Message[]): Record<string, unknown>
}

/** The role as it was sent (`developer`), if it is a spelling of the role that it was read as. */
export const spelledRole = (role: Role, extras: Message['extras']): unknown =>
  typeof extras?.role === 'string' && roleOf(extras.role) === role ? extras.role : role

/** The finish reason as a provider names it, or null if the message has none. */
export const writeFinishReason = (
  { finishReason }: Message,
  names: Readonly<Record<FinishReason, string>>,
): string | null => (finishReason ? names[finishReason] : null)
