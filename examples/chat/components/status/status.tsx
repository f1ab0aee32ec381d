import { useReachable, useThread } from 'agentwire/react'
import { CircleAlert, CloudOff, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { agents } from '../../lib/client.ts'
import { isRefusal, wordsOf } from '../../lib/errors.ts'
import type { Chat } from '../../lib/use-chat.ts'
import { Button } from '../ui/button.tsx'

interface StatusProps {
  readonly chat: Chat
  /** Repeats the rejected request. */
  readonly onAgain: () => void
}

/** What went wrong, as a sentence, and what to do. */
export function Status({ chat, onAgain }: StatusProps) {
  const isReachable = useReachable(agents)
  const thread = useThread(agents, chat.threadId)
  if (!isReachable)
    return (
      <Notice icon={CloudOff} kind="warn">
        <p className="min-w-0 flex-1">
          The server cannot be reached. Trying again… What you send now arrives later.
        </p>
      </Notice>
    )
  // A page that was loaded later has no error of the run, and only knows from the thread that there was one.
  const hasFailed = thread?.status === 'error'
  if (chat.isLoading || chat.isThreadLoading || (chat.error === undefined && !hasFailed)) return null
  const goOn = (): void => void chat.submit(null)
  return (
    <Notice icon={CircleAlert} kind="bad">
      <p className="min-w-0 flex-1 wrap-anywhere">
        {chat.error === undefined ? 'The last run failed.' : wordsOf(chat.error)}
      </p>
      {/* A question that waits is answered again where it is asked. */}
      {chat.interrupts.length === 0 && (
        <Button onClick={isRefusal(chat.error) ? onAgain : goOn}>Try again</Button>
      )}
    </Notice>
  )
}

interface NoticeProps {
  readonly icon: LucideIcon
  readonly kind: 'warn' | 'bad'
  readonly children: ReactNode
}

const COLOURS = { warn: 'text-warn', bad: 'text-bad' }

const Notice = ({ icon: Icon, kind, children }: NoticeProps) => (
  <div className="mx-auto w-full max-w-3xl px-4 pb-3">
    <div
      role="alert"
      className="flex min-h-12 items-center gap-3 rounded-2xl border bg-raised py-1.5 pr-1.5 pl-4 text-sm"
    >
      <Icon aria-hidden className={`size-5 shrink-0 ${COLOURS[kind]}`} />
      {children}
    </div>
  </div>
)
