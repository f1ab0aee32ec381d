import type { AnyStream } from '@langchain/react'
import { useEffect, useRef } from 'react'
import type { AgentClient } from './client.ts'
import type { ThreadEntry } from './requests.ts'

/**
 * Stops what the agent does for a thread, whoever has started it. `useStream().stop()` cancels only a run that this page has started: after
 * a reload it would just stop listening. The page goes on to listen, and learns as every other page that the run has ended.
 */
export function useStop(
  { threads }: AgentClient,
  { isLoading, threadId }: AnyStream,
  thread: ThreadEntry | null | undefined,
): { readonly isRunning: boolean; readonly stop: () => Promise<void> } {
  // A page that is loaded in the middle of a run knows it by the thread before the stream has told of it.
  const isBusy = thread?.status === 'busy'
  const isWanted = useRef(false)

  // Who stops at once is faster than the message that starts the run.
  useEffect(() => {
    if (!isLoading) isWanted.current = false
    else if (isWanted.current && isBusy && threadId !== null) threads.stop(threadId).catch(console.warn)
  }, [threads, isLoading, isBusy, threadId])

  const stop = async (): Promise<void> => {
    isWanted.current = true
    if (threadId !== null) await threads.stop(threadId)
  }
  return { isRunning: isLoading || isBusy, stop }
}
