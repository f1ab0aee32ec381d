import { createAccumulator, type MessageEvent } from '../../src/messages/index.ts'
import type { Format, ModelResponse } from '../../src/models/formats/index.ts'

/** Freezes a value and everything in it, so that writing to it throws. */
export function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const item of Object.values(value)) frozen(item)
  }
  return value
}

/** Reads all events of a stream. */
export function eventsOf(format: Format, chunks: readonly unknown[]): MessageEvent[] {
  const reader = format.readStream()
  const events = chunks.flatMap((chunk) => [...reader.push(frozen(chunk))])
  return [...events, ...reader.end()]
}

/** Reads a stream and accumulates its events. */
export function streamed(format: Format, chunks: readonly unknown[]): ModelResponse {
  const accumulator = createAccumulator()
  for (const event of eventsOf(format, chunks)) accumulator.push(event)
  const { error } = accumulator
  return { messages: accumulator.messages(), ...(error && { error }) }
}

/** Reads a whole response. */
export function whole(format: Format, response: unknown): ModelResponse {
  return format.readResponse(frozen(response))
}

/** Copies a value through JSON. */
export const viaJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Reads an async iterable of live objects and accumulates its events. */
export async function accumulated(format: Format, stream: AsyncIterable<unknown>): Promise<ModelResponse> {
  const accumulator = createAccumulator()
  const reader = format.readStream()
  const push = (events: ReturnType<typeof reader.end>) => {
    for (const event of events) accumulator.push(event)
  }
  for await (const chunk of stream) push(reader.push(chunk))
  push(reader.end())
  const { error } = accumulator
  return { messages: accumulator.messages(), ...(error && { error }) }
}
