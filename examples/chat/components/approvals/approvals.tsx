import { Suspense } from 'react'
import { later } from '../../lib/later.ts'
import type { Chat } from '../../lib/use-chat.ts'

const Questions = later(async () => (await import('./questions.tsx')).Questions)

/** What the agent waits for. While a run goes on nothing is asked: it may be the one that goes on with the answer of another tab. */
export function Approvals({ chat }: { readonly chat: Chat }) {
  if (chat.interrupts.length === 0 || chat.isLoading || chat.isThreadLoading) return null
  const ids = chat.interrupts.map(({ id }) => id)
  return (
    <Suspense>
      <Questions
        key={ids.join()}
        interrupts={chat.interrupts}
        onAnswer={(responses) => chat.respondAll(responses)}
      />
    </Suspense>
  )
}
