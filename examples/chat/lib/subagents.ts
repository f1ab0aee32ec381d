import type { SubagentDiscoverySnapshot } from '@langchain/react'

export type SubagentState = 'Running' | 'Waiting' | 'Done' | 'Failed' | 'Stopped'

interface ChatStatus {
  readonly isLoading: boolean
  readonly interrupts: readonly unknown[]
}

/** A subagent's state. One without an end, whose run has ended, waits for the user or was stopped. */
export function stateOf(
  { status }: Pick<SubagentDiscoverySnapshot, 'status'>,
  { isLoading, interrupts }: ChatStatus,
): SubagentState {
  if (status === 'complete') return 'Done'
  if (status === 'error') return 'Failed'
  if (isLoading) return 'Running'
  return interrupts.length > 0 ? 'Waiting' : 'Stopped'
}

/** The last non-empty line: of a text, of a message, or of a tool's update. */
export function lastLineOf(output: unknown): string {
  const text = textIn(output).trimEnd()
  return text.slice(text.lastIndexOf('\n') + 1)
}

function textIn(output: unknown): string {
  if (typeof output === 'string') return output
  if (Array.isArray(output)) return textIn(output.at(-1))
  if (typeof output !== 'object' || output === null) return ''
  const { text, content, update, messages } = output as Record<string, unknown>
  return textIn(text ?? content ?? update ?? messages)
}
