import { type SubagentDiscoverySnapshot, useMessages } from '@langchain/react'
import { useRef } from 'react'
import { textOf, usageOf } from '../../lib/messages.ts'
import type { SubagentState } from '../../lib/subagents.ts'
import type { Activity } from '../../lib/tool-calls.ts'
import { type Turn, turnsOf } from '../../lib/turns.ts'
import type { Chat } from '../../lib/use-chat.ts'
import { AnswerMessage } from '../conversation/answer.tsx'
import { Dialog } from '../ui/dialog.tsx'

interface SubagentPanelProps {
  readonly chat: Chat
  readonly subagent: SubagentDiscoverySnapshot
  readonly state: SubagentState
  readonly onClose: () => void
}

/** A subagent's conversation, live while it runs. */
export function SubagentPanel({ chat, subagent, state, onClose }: SubagentPanelProps) {
  const messages = useMessages(chat, subagent)
  const turns = useRef<readonly Turn[]>([])
  turns.current = turnsOf(messages, turns.current)
  const usage = usageOf(messages)
  const activity = state === 'Running' ? 'running' : state === 'Waiting' ? 'waiting' : 'idle'
  return (
    <Dialog open onOpenChange={onClose} title={subagent.name} side="right">
      <div className="flex flex-col gap-4 p-4">
        <p className="text-faint text-sm">
          {state}
          {usage && ` · ${usage.input + usage.output} tokens`}
        </p>
        {turns.current.map((turn) => (
          <SubagentTurn
            key={turn.id}
            turn={turn}
            activity={turn === turns.current.at(-1) ? activity : 'idle'}
          />
        ))}
        {subagent.error !== undefined && <p className="text-bad">{subagent.error}</p>}
      </div>
    </Dialog>
  )
}

/** The subagent's task, and its work on it. */
function SubagentTurn({ turn, activity }: { readonly turn: Turn; readonly activity: Activity }) {
  return (
    <>
      {turn.question && (
        <p
          dir="auto"
          className="wrap-anywhere max-w-[85%] self-end whitespace-pre-wrap rounded-2xl bg-hover px-4 py-2"
        >
          {textOf(turn.question)}
        </p>
      )}
      {turn.answer.map(
        (message, at) =>
          message.type === 'ai' && (
            <AnswerMessage
              key={message.id ?? at}
              message={message}
              answer={turn.answer}
              activity={activity}
            />
          ),
      )}
    </>
  )
}
