import { useEffect, useRef } from 'react'
import { client } from './client.ts'
import type { Navigation } from './navigation.ts'
import { threadsChanged, useThreads } from './threads.ts'

/**
 * True once the open thread has been deleted elsewhere. A thread that was never there is made, as the protocol's bootstrap says: GET of the
 * state by `useStream`, then POST here. That is for an address that somebody wrote; a new chat makes its thread with its first message.
 */
export function useThreadGone({ threadId, chatKey }: Navigation): boolean {
  const { open } = useThreads()
  const known = useRef<string>(undefined)
  if (open) known.current = open.id
  const isMissing = threadId !== undefined && open === null
  const isUnknown = isMissing && known.current !== threadId && chatKey === threadId
  useEffect(() => {
    if (isUnknown) client.threads.updateState(threadId!, { values: null }).then(threadsChanged, console.warn)
  }, [isUnknown, threadId])
  return isMissing && known.current === threadId
}
