import { useThread } from 'agentwire/react'
import { useRef } from 'react'
import { agents } from './client.ts'
import type { Navigation } from './navigation.ts'

/**
 * Why the thread of the address cannot be shown: it was deleted while it was open, or there is none. A new
 * chat, whose thread is created with its first message, has an address before its thread is listed.
 */
export function useThreadGone({ threadId, chatKey }: Navigation): 'deleted' | 'unknown' | undefined {
  const open = useThread(agents, threadId)
  const known = useRef<string>(undefined)
  if (open) known.current = open.id
  if (threadId === undefined || open !== null) return undefined
  if (known.current === threadId) return 'deleted'
  return chatKey === threadId ? 'unknown' : undefined
}
