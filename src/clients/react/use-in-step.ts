import { type AnyStream, STREAM_CONTROLLER } from '@langchain/react'
import { useEffect, useRef } from 'react'
import type { AgentClient } from './client.ts'
import type { ThreadEntry } from './requests.ts'

/**
 * Synchronizes a conversation with the list of threads. A thread without a run has no stream, and no event
 * reports that an interrupt was answered elsewhere. So the state is read again when the list reports a
 * change.
 */
export function useInStep(
  { threads }: AgentClient,
  stream: AnyStream,
  thread: ThreadEntry | null | undefined,
): void {
  const { isLoading } = stream
  const controller = stream[STREAM_CONTROLLER]
  const asks = stream.interrupts.length > 0
  const updatedAt = thread?.updatedAt.getTime()
  const seen = useRef(updatedAt)
  // The first run opens the stream, which stays open and reports all later runs.
  const hasStream = useRef(false)
  const wasLoading = useRef(false)

  useEffect(() => {
    hasStream.current ||= isLoading
    const isNews = updatedAt !== undefined && seen.current !== undefined && updatedAt !== seen.current
    seen.current = updatedAt
    if (isNews && !hasStream.current) void controller.hydrate()
  }, [controller, updatedAt, isLoading])

  useEffect(() => {
    if (isLoading === wasLoading.current) return
    wasLoading.current = isLoading
    void threads.changed().catch(console.warn)
    if (!isLoading && asks) void controller.hydrate()
  }, [threads, controller, isLoading, asks])
}
