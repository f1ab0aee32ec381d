import type { AnyStream } from '@langchain/react'
import { useEffect, useRef } from 'react'
import type { AgentClient } from './client.ts'
import type { ThreadEntry } from './requests.ts'

/**
 * Cancels all runs of a thread, whichever client started them. `useStream().stop()` only cancels a run that
 * this page started: after a reload, it only stops listening. The page keeps listening, and learns from the
 * stream that the run has ended, like every other page.
 */
export function useStop(
  { threads }: AgentClient,
  { isLoading, threadId }: AnyStream,
  thread: ThreadEntry | null | undefined,
): { readonly isRunning: boolean; readonly stop: () => Promise<void> } {
  // A page that is loaded during a run knows it from the thread before the stream reports it.
  const isBusy = thread?.status === 'busy'
  const isWanted = useRef(false)

  // A user may stop before the message that starts the run has been sent.
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
