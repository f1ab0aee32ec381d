import { HttpAgentServerAdapter, useStream } from '@langchain/react'
import { useMemo } from 'react'
import { apiUrl } from './client.ts'
import { patientFetch } from './connection.ts'
import { threadsChanged } from './threads.ts'
import { useInStep } from './use-in-step.ts'

/** The state of every agent here. */
export interface ChatState extends Record<string, unknown> {
  messages: unknown[]
}

interface ChatOptions {
  /** Undefined in a new chat: the first message makes the thread. */
  readonly threadId: string | undefined
  /** Which agent a new thread belongs to. A thread that exists keeps its own. */
  readonly assistantId: string | undefined
  readonly onThreadId: (threadId: string) => void
}

/**
 * The SDK closes the adapter where the first message of a thread is refused, and uses it for the next message all the same. The SDK ends
 * the streams by themselves, and a message that waits for the server is to arrive also when another chat is opened.
 */
class LastingAdapter extends HttpAgentServerAdapter {
  override close(): Promise<void> {
    return Promise.resolve()
  }
}

/** One conversation over the Agent Streaming Protocol. */
export function useChat({ threadId, assistantId, onThreadId }: ChatOptions) {
  // An adapter is bound to one thread, as the component that uses this hook is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the thread that a new chat makes is told to the adapter by the SDK.
  const transport = useMemo(
    () => new LastingAdapter({ apiUrl, threadId: threadId ?? '', fetch: patientFetch }),
    [],
  )
  const chat = useStream<ChatState>({
    transport,
    threadId: threadId ?? null,
    onThreadId,
    onCreated: () => void threadsChanged().catch(console.warn),
    ...(assistantId !== undefined && { assistantId }),
  } as Parameters<typeof useStream<ChatState>>[0])
  useInStep(chat)
  return chat
}

export type Chat = ReturnType<typeof useStream<ChatState>>
