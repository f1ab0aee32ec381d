import { type AnyStream, STREAM_CONTROLLER } from '@langchain/react'
import { useEffect, useRef } from 'react'
import { threadsChanged, useThreads } from './threads.ts'

/**
 * Keeps a conversation and the list of threads in step with each other. A thread without a run has no stream, and no event tells that an
 * interrupt was answered elsewhere: the state is read again where the list tells of a change.
 */
export function useInStep(chat: AnyStream): void {
  const { isLoading, threadId } = chat
  const controller = chat[STREAM_CONTROLLER]
  const asks = chat.interrupts.length > 0
  const { open } = useThreads()
  const updatedAt = open?.id === threadId ? open?.updatedAt.getTime() : undefined
  const seen = useRef(updatedAt)
  // The first run opens the stream, which stays open and tells of all later ones.
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
    void threadsChanged().catch(console.warn)
    if (!isLoading && asks) void controller.hydrate()
  }, [controller, isLoading, asks])
}
