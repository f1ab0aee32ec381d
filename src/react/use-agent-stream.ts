import { HttpAgentServerAdapter, useStream } from '@langchain/react'
import { useMemo } from 'react'
import type { AgentClient } from './client.ts'
import { isServer } from './on-server.ts'
import { useInStep } from './use-in-step.ts'
import { useStop } from './use-stop.ts'
import { useThread } from './use-threads.ts'

export interface AgentStreamOptions {
  /** The thread to open. Undefined in a new chat: the first message makes the thread. The component is bound to it: give it a `key`. */
  readonly threadId: string | undefined
  /** The agent of a new thread. Undefined: the server's default. A thread that exists keeps its own. */
  readonly assistantId?: string | undefined
  /** A new chat has made its thread. */
  readonly onThreadId?: (threadId: string) => void
}

export type AgentStream<State extends object = Record<string, unknown>> = ReturnType<typeof useStream<State>>

export interface UseAgentStream<State extends object> {
  /** What `useStream` gives. Its `stop` ends only a run that this page has started: use the other one. */
  readonly stream: AgentStream<State>
  /** The agent is at work for the thread, whoever has asked it. */
  readonly isRunning: boolean
  /**
   * The agent waits for the answers to `stream.interrupts`. While a run goes on nothing is asked: it may be the one that goes on with the answer
   * of another tab.
   */
  readonly isAsking: boolean
  /** Stops the agent, whoever has started it: also after a reload and from another tab. Rejects where the server refuses. */
  readonly stop: () => Promise<void>
  /** Answers the open questions, by the ids of their interrupts, in one command. */
  readonly answer: (responses: Record<string, unknown>) => Promise<void>
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

/** Gives the conversation of a client, and keeps it up to date. */
export type AgentStreamHook = <State extends object = Record<string, unknown>>(
  client: AgentClient,
  options: AgentStreamOptions,
) => UseAgentStream<State>

/**
 * One conversation: `useStream` whose stop, answers and running state hold after a reload, in a second tab and while the server is away. Rendered on
 * a server, its stream is empty and does nothing, and the SDK's hooks that read more of it (`useMessages` …) have to wait for the browser.
 */
export const useAgentStream: AgentStreamHook = isServer ? streamOnServer : useStreamOnPage

function streamOnServer<State extends object>(
  _client: AgentClient,
  { threadId }: AgentStreamOptions,
): UseAgentStream<State> {
  const inBrowsers = (): Promise<never> => Promise.reject(new Error('A render on a server cannot do this.'))
  const stream = {
    values: {},
    messages: [],
    toolCalls: [],
    interrupts: [],
    interrupt: undefined,
    isLoading: false,
    isThreadLoading: threadId !== undefined,
    error: undefined,
    threadId: threadId ?? null,
    subagents: new Map(),
    subgraphs: new Map(),
    subgraphsByNode: new Map(),
    submit: inBrowsers,
  } as unknown as AgentStream<State>
  return { stream, isRunning: false, isAsking: false, stop: inBrowsers, answer: inBrowsers }
}

function useStreamOnPage<State extends object>(
  client: AgentClient,
  { threadId, assistantId, onThreadId }: AgentStreamOptions,
): UseAgentStream<State> {
  // An adapter is bound to one thread, as the component that uses this hook is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the thread that a new chat makes is told to the adapter by the SDK.
  const transport = useMemo(
    () => new LastingAdapter({ apiUrl: client.apiUrl, threadId: threadId ?? '', fetch: client.fetch }),
    [client],
  )
  const stream = useStream<State>({
    transport,
    threadId: threadId ?? null,
    onThreadId,
    onCreated: () => void client.threads.changed().catch(console.warn),
    ...(assistantId !== undefined && { assistantId }),
  } as Parameters<typeof useStream<State>>[0])
  const thread = useThread(client, stream.threadId)
  useInStep(client, stream, thread)
  const { isRunning, stop } = useStop(client, stream, thread)
  const isAsking = stream.interrupts.length > 0 && !stream.isLoading && !stream.isThreadLoading
  return { stream, isRunning, isAsking, stop, answer: (responses) => stream.respondAll(responses) }
}
