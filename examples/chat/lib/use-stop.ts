import { useEffect, useRef } from 'react'
import { client } from './client.ts'
import { useThreads } from './threads.ts'
import type { Chat } from './use-chat.ts'

export interface Stoppable {
  /** Whether the agent is at work for the thread, whoever has asked it. */
  readonly isRunning: boolean
  /** Rejects where the server refuses it. */
  readonly stop: () => Promise<void>
}

/**
 * Stops what the agent does for a thread, whoever has started it. `useStream().stop()` cancels only a run that this page has started: after
 * a reload it would just stop listening. The page goes on to listen, and learns as every other page that the run has ended.
 */
export function useStop({ isLoading, threadId }: Chat): Stoppable {
  const { open } = useThreads()
  // A page that is loaded in the middle of a run knows it by the thread before the stream has told of it.
  const isBusy = open?.id === threadId && open?.status === 'busy'
  const isWanted = useRef(false)

  // Who stops at once is faster than the message that starts the run.
  useEffect(() => {
    if (!isLoading) isWanted.current = false
    else if (isWanted.current && isBusy && threadId !== null) cancel(threadId).catch(console.warn)
  }, [isLoading, isBusy, threadId])

  const stop = async (): Promise<void> => {
    isWanted.current = true
    if (threadId !== null) await cancel(threadId)
  }
  return { isRunning: isLoading || isBusy, stop }
}

/** The server may not know a new thread yet. */
const cancel = (threadId: string): Promise<void> =>
  client.runs.cancelMany({ threadId, status: 'running' }).catch((error: { readonly status?: number }) => {
    if (error.status !== 404) throw error
  })
