import { useQueue } from 'agentwire/react'
import { Clock, X } from 'lucide-react'
import type { Chat } from '../../lib/use-chat.ts'
import { IconButton } from '../ui/icon-button.tsx'

/** Messages that were sent during a run. They are sent one by one after it has ended. */
export function Queue({ chat }: { readonly chat: Chat }) {
  const queued = useQueue(chat)
  if (queued.length === 0) return null
  return (
    <ul aria-label="Queued messages" className="mx-auto flex w-full max-w-3xl flex-col gap-1 px-4 pb-2">
      {queued.map(({ id, text, remove }) => (
        <li
          key={id}
          className="flex items-center gap-2 rounded-xl border border-dashed bg-panel py-0.5 pr-1 pl-3 text-sm"
        >
          <Clock aria-hidden className="size-4 shrink-0 text-faint" />
          <span dir="auto" className="min-w-0 flex-1 truncate">
            {text}
          </span>
          <span className="text-faint text-xs">queued</span>
          <IconButton icon={X} label="Remove from the queue" size="small" onClick={() => void remove()} />
        </li>
      ))}
    </ul>
  )
}
