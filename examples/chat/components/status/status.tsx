import { useReachable, useThread } from 'agentwire/react'
import { CloudOff } from 'lucide-react'
import { agents } from '../../lib/client.ts'
import { isRefusal, wordsOf } from '../../lib/errors.ts'
import type { Chat } from '../../lib/use-chat.ts'
import { Button } from '../ui/button.tsx'

interface StatusProps {
  readonly chat: Chat
  /** Sends the request that was refused once more. */
  readonly onAgain: () => void
}

/** What went wrong, in words, with a way out. */
export function Status({ chat, onAgain }: StatusProps) {
  const isReachable = useReachable(agents)
  const thread = useThread(agents, chat.threadId)
  if (!isReachable)
    return (
      <p
        role="alert"
        className="mx-auto flex w-full max-w-3xl items-center gap-2 px-4 pb-3 text-sm text-warn"
      >
        <CloudOff aria-hidden className="size-4 shrink-0" />
        The server cannot be reached. Trying again… What you send now arrives later.
      </p>
    )
  // A page that came later has no error of the run, and knows by the thread that there was one.
  const hasFailed = thread?.status === 'error'
  if (chat.isLoading || chat.isThreadLoading || (chat.error === undefined && !hasFailed)) return null
  const goOn = (): void => void chat.submit(null)
  return (
    <div role="alert" className="mx-auto flex w-full max-w-3xl items-center gap-3 px-4 pb-3 text-sm">
      <p className="flex-1 text-bad">
        {chat.error === undefined ? 'The last run failed.' : wordsOf(chat.error)}
      </p>
      {/* A question that waits is answered again where it is asked. */}
      {chat.interrupts.length === 0 && (
        <Button onClick={isRefusal(chat.error) ? onAgain : goOn}>Try again</Button>
      )}
    </div>
  )
}
