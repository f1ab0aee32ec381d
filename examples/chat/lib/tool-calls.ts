import type { AIMessage, BaseMessage, ToolMessage } from '@langchain/core/messages'
import { textOf } from './messages.ts'

export type ToolStatus = 'running' | 'waiting' | 'finished' | 'failed' | 'rejected' | 'stopped'

/** A call of a tool together with what came of it. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly status: ToolStatus
  /** What the tool answered, or why it did not. */
  readonly result: string | undefined
}

/** What the agent does at present: `waiting` is for the user's answer to an interrupt. */
export type Activity = 'running' | 'waiting' | 'idle'

/** The calls of one message. Their results are other messages of the same answer. */
export function toolCallsOf(
  message: BaseMessage,
  answer: readonly BaseMessage[],
  activity: Activity,
): readonly ToolCall[] {
  return ((message as AIMessage).tool_calls ?? []).map(({ id = '', name, args }) => {
    const result = answer.find(
      (other) => other.type === 'tool' && (other as ToolMessage).tool_call_id === id,
    ) as ToolMessage | undefined
    const status = result ? statusOf(result) : activity === 'idle' ? 'stopped' : activity
    return { id, name, args, status, result: result && textOf(result) }
  })
}

/** A call that the user rejected has an error as its result too. LangChain's middleware and this page begin it with these words. */
function statusOf(result: ToolMessage): ToolStatus {
  const text = textOf(result)
  // What a deep agent puts in the place of a result that a stop has cut off.
  if (/ was cancelled - /.test(text)) return 'stopped'
  if (result.status !== 'error') return 'finished'
  return /^(the )?user (has )?rejected/i.test(text) ? 'rejected' : 'failed'
}

/** `send_email` as “Send email”. */
export function readableName(name: string): string {
  const words = name
    .replace(/[_-]+/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** JSON as a value, and every other text as it is. */
export function readResult(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
