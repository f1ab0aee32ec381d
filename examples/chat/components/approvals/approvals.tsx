import { Suspense } from 'react'
import { later } from '../../lib/later.ts'
import type { Chat } from '../../lib/use-chat.ts'

const Questions = later(async () => (await import('./questions.tsx')).Questions)

/** While a run goes on nothing is asked: it may be the one that goes on with the answer of another tab. */
export const isAsking = ({ interrupts, isLoading, isThreadLoading }: Chat): boolean =>
  interrupts.length > 0 && !isLoading && !isThreadLoading

/** What the agent waits for. */
export function Approvals({ chat }: { readonly chat: Chat }) {
  if (!isAsking(chat)) return null
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
