import { useCallback, useEffect, useSyncExternalStore } from 'react'
import type { AgentClient } from './client.ts'
import { isServer } from './on-server.ts'
import type { ThreadEntry } from './requests.ts'
import type { ThreadList } from './threads.ts'

/** What a server renders. React compares its HTML with this also where parts of a page come alive later, when the list is there. */
const BEGIN: ThreadList = { entries: [], isLoaded: false, hasMore: false }

/** The threads of the user, newest first. They are kept up to date while the page is in sight, and between the tabs of a browser. */
export const useThreads: (client: AgentClient) => ThreadList = isServer
  ? () => BEGIN
  : ({ threads }) => useSyncExternalStore(threads.subscribe, threads.get, () => BEGIN)

/** One thread, also where the list does not reach so far. Null where the server has none of this id, undefined before it was asked. */
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

/** False while requests wait for a server that does not answer. */
export const useReachable: (client: AgentClient) => boolean = isServer
  ? () => true
  : ({ reachable }) => useSyncExternalStore(reachable.subscribe, reachable.get, () => true)
