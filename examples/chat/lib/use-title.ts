import { useThread } from 'agentwire/react'
import { useEffect, useRef } from 'react'
import { agents, apiUrl } from './client.ts'
import type { Turn } from './turns.ts'
import type { Chat } from './use-chat.ts'

/**
 * Makes the server name a conversation when its first run has ended or raised an interrupt, unless it has a
 * name: server/titles.ts.
 */
export function useTitle({ threadId, isLoading }: Chat, turns: readonly Turn[]): void {
  const entry = useThread(agents, threadId)
  const asked = useRef<string>(undefined)
  const isAtRest = !isLoading && turns.length > 0

  useEffect(() => {
    const isNamed = entry?.metadata.titled_by !== undefined
    if (!isAtRest || !entry || entry.status === 'busy' || isNamed) return
    const state = `${entry.id} ${entry.status}`
    if (asked.current === state) return
    asked.current = state
    askForTitle(entry.id).catch(console.warn)
  }, [isAtRest, entry])
}

async function askForTitle(id: string): Promise<void> {
  const response = await agents.fetch(`${apiUrl}/threads/${encodeURIComponent(id)}/title`, { method: 'POST' })
  // Another server may not have this route: its threads are named after their first message.
  if (response.ok) await agents.threads.changed()
}
