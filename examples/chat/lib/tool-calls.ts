import type { AIMessage, BaseMessage, ToolMessage } from '@langchain/core/messages'
import { textOf } from './messages.ts'

export type ToolStatus = 'running' | 'waiting' | 'finished' | 'failed' | 'rejected' | 'stopped'

/** A tool call with its result. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly status: ToolStatus
  /** The tool's result or error. */
  readonly result: string | undefined
}

/** The agent's current activity. `waiting`: for the user's answer to an interrupt. */
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

/**
 * A call that the user rejected also has an error as its result. LangChain's middleware and this page start
 * it with these words.
 */
function statusOf(result: ToolMessage): ToolStatus {
  const text = textOf(result)
  // The result that a deep agent writes for a call that was stopped.
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

/** JSON as a value, any other text unchanged. */
export function readResult(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
