import { useSubmissionQueue } from '@langchain/react'
import { Clock, X } from 'lucide-react'
import type { Content } from '../../lib/attachments.ts'
import type { Chat } from '../../lib/use-chat.ts'
import { IconButton } from '../ui/icon-button.tsx'

/** The messages that were written during a run. They are sent one after another, when it has ended. */
export function Queue({ chat }: { readonly chat: Chat }) {
  const { entries, cancel } = useSubmissionQueue(chat)
  if (entries.length === 0) return null
  return (
    <ul aria-label="Queued messages" className="mx-auto flex w-full max-w-3xl flex-col gap-1 px-4 pb-2">
      {entries.map(({ id, values }) => (
        <li
          key={id}
          className="flex items-center gap-2 rounded-xl border border-dashed bg-panel py-0.5 pr-1 pl-3 text-sm"
        >
          <Clock aria-hidden className="size-4 shrink-0 text-faint" />
          <span className="flex-1 truncate">{wordsOf(values)}</span>
          <span className="text-faint text-xs">queued</span>
          <IconButton icon={X} label="Remove from the queue" size="small" onClick={() => void cancel(id)} />
        </li>
      ))}
    </ul>
  )
}

function wordsOf(values: unknown): string {
  const [message] = (values as { readonly messages: readonly { readonly content: Content }[] }).messages
  const content = message?.content ?? ''
  if (typeof content === 'string') return content
  return content.map((block) => ('text' in block ? block.text : block.metadata.filename)).join(', ')
}
