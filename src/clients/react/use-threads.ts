import { useCallback, useEffect, useSyncExternalStore } from 'react'
import type { AgentClient } from './client.ts'
import { isServer } from './environment.ts'
import type { ThreadEntry } from './requests.ts'
import type { ThreadList } from './threads.ts'

/**
 * What a server renders. React also compares its HTML with this when parts of a page hydrate later, after the
 * list has loaded.
 */
const BEGIN: ThreadList = { entries: [], isLoaded: false, hasMore: false }

/**
 * The user's threads, newest first. They are kept up to date while the page is visible, and across the
 * browser's tabs.
 */
export const useThreads: (client: AgentClient) => ThreadList = isServer
  ? () => BEGIN
  : ({ threads }) => useSyncExternalStore(threads.subscribe, threads.get, () => BEGIN)

/**
 * One thread, even if it is not in the list. Null if the server has no such thread, undefined before the
 * first response.
 */
export const useThread: (
  client: AgentClient,
  id: string | null | undefined,
) => ThreadEntry | null | undefined = isServer ? () => undefined : useWatchedThread

function useWatchedThread({ threads }: AgentClient, id: string | null | undefined) {
  const read = useCallback(
    () => (id === null || id === undefined ? undefined : threads.entryOf(id)),
    [threads, id],
  )
  useEffect(() => {
    if (id !== null && id !== undefined) return threads.watch(id)
  }, [threads, id])
  return useSyncExternalStore(threads.subscribe, read, () => undefined)
}

/** False while requests wait for a server that does not respond. */
export const useReachable: (client: AgentClient) => boolean = isServer
  ? () => true
  : ({ reachable }) => useSyncExternalStore(reachable.subscribe, reachable.get, () => true)
