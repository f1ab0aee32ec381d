import { type AnyStream, useSubmissionQueue } from '@langchain/react'
import { useEffect, useRef } from 'react'
import type { AgentClient } from './client.ts'
import { requester, threadPath } from './requests.ts'

/**
 * Sends queued messages to the server when the user opens another conversation, reloads or closes the page.
 * The SDK keeps them in the page, so they would be lost. The server runs them in order after the current run.
 */
export function useHandOver(
  { apiUrl, fetch }: AgentClient,
  stream: AnyStream,
  assistantId: string | undefined,
): void {
  const { entries, clear } = useSubmissionQueue(stream)
  const { threadId } = stream
  const latest = useRef({ entries, clear, threadId, assistantId })
  latest.current = { entries, clear, threadId, assistantId }

  useEffect(() => {
    const request = requester(apiUrl, fetch)
    const handOver = async (isLeaving: boolean): Promise<void> => {
      const { entries, clear, threadId, assistantId } = latest.current
      if (threadId === null || entries.length === 0) return
      void clear()
      for (const { values: input, options = {} } of entries) {
        const { config, metadata } = options
        const params = { assistant_id: assistantId, input, config, metadata, multitask_strategy: 'enqueue' }
        const body = { id: 1, method: 'run.start', params }
        const path = `${threadPath(threadId)}/commands`
        const sent = request('POST', path, { body, isLasting: true }).catch(console.warn)
        // A page that goes away cannot wait for a response. Otherwise, waiting keeps the order.
        if (!isLeaving) await sent
      }
    }
    const leave = (): void => void handOver(true)
    addEventListener('pagehide', leave)
    return () => {
      removeEventListener('pagehide', leave)
      void handOver(false)
    }
  }, [apiUrl, fetch])
}
