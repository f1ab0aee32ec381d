import { type AnyStream, useSubmissionQueue } from '@langchain/react'
import { isServer } from './environment.ts'

/**
 * A message that was sent during a run, with `multitaskStrategy: 'enqueue'`. It is sent when the run has
 * ended, or when the user leaves the conversation.
 */
export interface QueuedMessage {
  readonly id: string
  /** The content that `submit` received: a string or content blocks. */
  readonly content: unknown
  /** Its text, or the names of its files. */
  readonly text: string
  remove(): Promise<void>
}

/** The queued messages, in order. */
export const useQueue: (stream: AnyStream) => readonly QueuedMessage[] = isServer ? () => [] : useQueueOnPage

function useQueueOnPage(stream: AnyStream): readonly QueuedMessage[] {
  const { entries, cancel } = useSubmissionQueue(stream)
  return entries.map(({ id, values }) => {
    const content = contentOf(values)
    return {
      id,
      content,
      text: textOf(content),
      remove: async () => {
        await cancel(id)
      },
    }
  })
}

function contentOf(values: unknown): unknown {
  const { messages } = (values ?? {}) as { readonly messages?: unknown }
  const [message] = Array.isArray(messages) ? messages : [messages]
  return typeof message === 'string'
    ? message
    : (message as { readonly content?: unknown } | undefined)?.content
}

interface Block {
  readonly text?: string
  readonly metadata?: { readonly filename?: string }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const blocks: readonly Block[] = Array.isArray(content) ? content : []
  return blocks.flatMap(({ text, metadata }) => text ?? metadata?.filename ?? []).join(', ')
}
