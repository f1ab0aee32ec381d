import { useEffect, useRef } from 'react'
import { refreshThreads, renameThread, useThreads } from './threads.ts'
import { titleOf } from './titles.ts'
import type { Turn } from './turns.ts'
import type { Chat } from './use-chat.ts'

/** Gives a conversation that has begun on this page its title when the first answer is complete, unless the user was faster. */
export function useTitle(
  { threadId, isLoading, interrupts }: Chat,
  turns: readonly Turn[],
  isNew: boolean,
): void {
  const { entries } = useThreads()
  const isNamed = useRef(!isNew)
  const latest = useRef(entries)
  latest.current = entries
  const firstTitle = useRef<string>(undefined)
  const entry = entries.find(({ id }) => id === threadId)
  if (entry) firstTitle.current ??= entry.title
  const isComplete = threadId !== null && !isLoading && interrupts.length === 0 && turns.length > 0

  useEffect(() => {
    const [turn] = turns
    if (isNamed.current || !isComplete || !entry || !turn || turn.answer.length === 0) return
    isNamed.current = true
    const { id, title: before } = entry
    const name = async (): Promise<void> => {
      // Other pages have given titles since the list was read.
      await refreshThreads()
      const others = latest.current.filter((one) => one.id !== id).map(({ title }) => title)
      const title = titleOf(turn, others)
      const isRenamed = before !== firstTitle.current
      if (title !== undefined && title !== before && !isRenamed) await renameThread(id, title)
    }
    name().catch(console.warn)
  }, [isComplete, entry, turns])
}
