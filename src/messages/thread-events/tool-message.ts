import { decodeMessage, type Message } from '../index.ts'
import { isRecord } from '../record.ts'

/** The tool message in a tool's output, which may be in the update of a `Command`. */
export function toolMessageOf(output: unknown, toolCallId: string): Message | undefined {
  const update = isRecord(output) && isRecord(output.update) ? output.update.messages : undefined
  const all = Array.isArray(update) ? update : [output]
  return all.map(decodeMessage).find((message) => message?.toolCallId === toolCallId)
}
