import { useThread } from 'agentwire/react'
import { useEffect, useRef } from 'react'
import { agents } from './client.ts'
import type { Navigation } from './navigation.ts'
import { states } from './states.ts'

/**
 * True once the open thread has been deleted elsewhere. A thread that was never there is made, as the protocol's bootstrap says: GET of the
 * state by `useStream`, then POST here. That is for an address that somebody wrote; a new chat makes its thread with its first message.
 */
export function useThreadGone({ threadId, chatKey }: Navigation): boolean {
  const open = useThread(agents, threadId)
  const known = useRef<string>(undefined)
  if (open) known.current = open.id
  const isMissing = threadId !== undefined && open === null
  const isUnknown = isMissing && known.current !== threadId && chatKey === threadId
  useEffect(() => {
    if (isUnknown) states.updateState(threadId!, { values: null }).then(agents.threads.changed, console.warn)
  }, [isUnknown, threadId])
  return isMissing && known.current === threadId
}
