import type { Chat } from '../../lib/use-chat.ts'

const STATES = { running: 'Running', complete: 'Done', error: 'Failed' }

interface SubagentCardProps {
  readonly chat: Chat
  /** The call of the tool `task` that started the subagent. */
  readonly toolCallId: string
}

/** A subagent at work, or its finished work. */
export function SubagentCard({ chat, toolCallId }: SubagentCardProps) {
  const subagent = chat.subagents.get(toolCallId)
  if (subagent === undefined) return null
  return (
    <section
      aria-label={`Subagent ${subagent.name}`}
      className="rounded-2xl border border-line bg-raised p-4 text-sm"
    >
      <header className="flex justify-between gap-2">
        <strong>{subagent.name}</strong>
        <span className="text-faint">{STATES[subagent.status]}</span>
      </header>
      <p className="mt-1 line-clamp-3 text-faint">{subagent.taskInput}</p>
    </section>
  )
}
