import { useMessages } from '@langchain/react'
import { ChevronRight } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { textOf } from '../../lib/messages.ts'
import { lastLineOf, stateOf } from '../../lib/subagents.ts'
import type { Chat } from '../../lib/use-chat.ts'

const SubagentPanel = lazy(async () => ({ default: (await import('./subagent-panel.tsx')).SubagentPanel }))

const MARKS = {
  Running: 'animate-pulse bg-brand',
  Waiting: 'bg-warn',
  Done: 'bg-good',
  Failed: 'bg-bad',
  Stopped: 'bg-faint',
}

interface SubagentCardProps {
  readonly chat: Chat
  /** The id of the `task` call that started the subagent. */
  readonly toolCallId: string
}

/** A subagent: its task, its state, and the line that it is writing. It opens its own conversation. */
export function SubagentCard({ chat, toolCallId }: SubagentCardProps) {
  const [isOpen, setOpen] = useState(false)
  const subagent = chat.subagents.get(toolCallId)
  if (subagent === undefined) return null
  const state = stateOf(subagent, chat)
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        className="flex min-w-0 flex-col gap-1 rounded-2xl border border-line bg-raised p-4 text-left text-sm hover:bg-hover"
      >
        <span className="flex w-full items-center gap-2">
          <span aria-hidden className={`size-2 shrink-0 rounded-full ${MARKS[state]}`} />
          <strong className="min-w-0 flex-1 truncate font-medium">
            <span className="sr-only">Subagent </span>
            {subagent.name}
          </strong>
          <span className="text-faint text-xs">{state}</span>
          <ChevronRight aria-hidden className="size-4 text-faint" />
        </span>
        <span className="line-clamp-2 text-faint">{subagent.taskInput}</span>
        <span className="line-clamp-1 wrap-anywhere">
          {subagent.status === 'running' ? (
            <LiveLine chat={chat} namespace={subagent.namespace} />
          ) : (
            (subagent.error ?? lastLineOf(subagent.output))
          )}
        </span>
      </button>
      <Suspense>
        {isOpen && (
          <SubagentPanel chat={chat} subagent={subagent} state={state} onClose={() => setOpen(false)} />
        )}
      </Suspense>
    </>
  )
}

interface LiveLineProps {
  readonly chat: Chat
  readonly namespace: readonly string[]
}

/** Reads a subagent's messages. It is only mounted while the subagent runs. */
function LiveLine({ chat, namespace }: LiveLineProps) {
  const messages = useMessages(chat, { namespace })
  const last = messages.findLast((message) => message.type === 'ai' && textOf(message) !== '')
  return last ? lastLineOf(textOf(last)) : ''
}
