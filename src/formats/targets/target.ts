import type { Message } from '../../messages/index.ts'

/** A shape that messages are written in, from whatever format they were read. What a shape has no place for is written as it is. */
export interface Target {
  /** As a trace names the shape of its messages. */
  readonly name: string
  /** The input of a call. */
  writeRequest(messages: readonly Message[]): Record<string, unknown>
  /** Its output: the messages are its choices. A shape without choices has the first. */
  writeResponse(messages: readonly Message[]): Record<string, unknown>
}
