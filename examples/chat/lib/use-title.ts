import { useThread } from 'agentwire/react'
import { useEffect, useRef } from 'react'
import { agents } from './client.ts'
import { titleOf } from './titles.ts'
import type { Turn } from './turns.ts'
import type { Chat } from './use-chat.ts'

/** Gives a conversation that has begun on this page its title when the first answer is complete, unless the user was faster. */
export function useTitle(
  { threadId, isLoading, interrupts }: Chat,
  turns: readonly Turn[],
  isNew: boolean,
): void {
  const entry = useThread(agents, threadId)
  const isNamed = useRef(!isNew)
  const firstTitle = useRef<string>(undefined)
  if (entry) firstTitle.current ??= entry.title
  const isComplete = threadId !== null && !isLoading && interrupts.length === 0 && turns.length > 0

  useEffect(() => {
    const [turn] = turns
    if (isNamed.current || !isComplete || !entry || !turn || turn.answer.length === 0) return
    isNamed.current = true
    if (entry.title === firstTitle.current) nameThread(entry.id, turn).catch(console.warn)
  }, [isComplete, entry, turns])
}

async function nameThread(id: string, turn: Turn): Promise<void> {
  const { threads } = agents
  // Other pages have given titles since the list was read.
  await threads.refresh()
  const others = threads.get().entries.filter((one) => one.id !== id)
  const title = titleOf(
    turn,
    others.map((one) => one.title),
  )
  if (title !== undefined && title !== threads.entryOf(id)?.title) await threads.rename(id, title)
}
