import { CloudOff } from 'lucide-react'
import { useReachable } from '../../lib/connection.ts'
import { wordsOf } from '../../lib/errors.ts'
import type { Chat } from '../../lib/use-chat.ts'
import { Button } from '../ui/button.tsx'

/** What went wrong, in words, with a way out. */
export function Status({ chat }: { readonly chat: Chat }) {
  const isReachable = useReachable()
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
  if (chat.error === undefined || chat.isLoading) return null
  return (
    <div role="alert" className="mx-auto flex w-full max-w-3xl items-center gap-3 px-4 pb-3 text-sm">
      <p className="flex-1 text-bad">{wordsOf(chat.error)}</p>
      <Button onClick={() => void chat.submit(null)}>Try again</Button>
    </div>
  )
}
