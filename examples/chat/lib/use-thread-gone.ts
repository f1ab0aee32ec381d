import { useThread } from 'agentwire/react'
import { useEffect, useRef } from 'react'
import { agents } from './client.ts'
import type { Navigation } from './navigation.ts'
import { states } from './states.ts'

/**
 * True once the open thread was deleted elsewhere. A thread that never existed is created with the protocol's
 * bootstrap: `useStream` gets the state, then this posts it. That is for an address that a user has typed; a
 * new chat creates its thread with its first message.
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
