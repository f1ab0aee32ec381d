import {
  type AnyStream,
  HttpAgentServerAdapter,
  STREAM_CONTROLLER,
  useStream,
  useSubmissionQueue,
} from '@langchain/react'
import { useEffect, useMemo, useRef } from 'react'
import type { AgentClient } from './client.ts'
import { isServer } from './environment.ts'
import { type FirstState, useFirstState, viewOf } from './first-state.ts'
import { requester, type ThreadEntry, threadPath } from './requests.ts'
import { useThread } from './use-threads.ts'

export interface AgentStreamOptions {
  /**
   * The thread to open. Undefined in a new chat: the first message creates the thread. The component is bound
   * to the thread, so give it a `key`.
   */
  readonly threadId: string | undefined
  /** The agent for a new thread. Default: the server's. An existing thread keeps its agent. */
  readonly assistantId?: string | undefined
  /**
   * The thread's state for the first render, for example on a server: the JSON of `GET
   * /threads/{thread_id}/state?streamed=true`. It is shown until the stream has as much.
   */
  readonly firstState?: FirstState | undefined
  /** Called when a new chat has created its thread. */
  readonly onThreadId?: (threadId: string) => void
}

export type AgentStream<State extends object = Record<string, unknown>> = ReturnType<typeof useStream<State>>

export interface UseAgentStream<State extends object> {
  /**
   * The result of `useStream`. Its `stop` only ends runs that this page started: use the `stop` next to it.
   */
  readonly stream: AgentStream<State>
  /** Whether a run is active on the thread, whichever client started it. */
  readonly isRunning: boolean
  /**
   * Whether the agent waits for responses to `stream.interrupts`. False while a run is active: it may be the
   * run that another tab resumed.
   */
  readonly isAsking: boolean
  /**
   * Cancels the run, whichever client started it, also after a reload or from another tab. Rejects if the
   * server rejects it.
   */
  readonly stop: () => Promise<void>
  /** Responds to the open interrupts, by interrupt id, in one command. */
  readonly answer: (responses: Record<string, unknown>) => Promise<void>
}

/**
 * The SDK closes the adapter if the first message of a thread is rejected, but uses it again for the next
 * message. The SDK ends streams itself, and a message that waits for the server should arrive even if the
 * user opens another chat.
 */
class LastingAdapter extends HttpAgentServerAdapter {
  override close(): Promise<void> {
    return Promise.resolve()
  }
}

/** Returns a client's conversation and keeps it up to date. */
export type AgentStreamHook = <State extends object = Record<string, unknown>>(
  client: AgentClient,
  options: AgentStreamOptions,
) => UseAgentStream<State>

/**
 * One conversation: `useStream` whose stop, responses and running state also work after a reload, in a second
 * tab and while the server is unavailable. On a server, it renders `firstState`, or an empty stream, and does
 * nothing. The SDK's hooks that read more of the stream, such as `useMessages`, must wait for the browser.
 */
export const useAgentStream: AgentStreamHook = isServer ? streamOnServer : useStreamOnPage

function streamOnServer<State extends object>(
  _client: AgentClient,
  { threadId, firstState }: AgentStreamOptions,
): UseAgentStream<State> {
  const first = firstState && viewOf(firstState)
  const inBrowsers = (): Promise<never> =>
    Promise.reject(new Error('This is not possible during server rendering.'))
  const stream = {
    values: first?.values ?? {},
    messages: first?.messages ?? [],
    toolCalls: [],
    interrupts: first?.interrupts ?? [],
    interrupt: first?.interrupts[0],
    isLoading: false,
    isThreadLoading: threadId !== undefined,
    error: undefined,
    threadId: threadId ?? null,
    subagents: new Map(),
    subgraphs: new Map(),
    subgraphsByNode: new Map(),
    submit: inBrowsers,
  } as unknown as AgentStream<State>
  const isRunning = first?.isRunning ?? false
  return { stream, isRunning, isAsking: false, stop: inBrowsers, answer: inBrowsers }
}

function useStreamOnPage<State extends object>(
  client: AgentClient,
  { threadId, assistantId, onThreadId, firstState }: AgentStreamOptions,
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
  useHandOver(client, stream, thread?.assistantId ?? assistantId)
  const { isRunning, stop } = useStop(client, stream, thread)
  const first = useFirstState(stream, firstState)
  const isAsking = stream.interrupts.length > 0 && !stream.isLoading && !stream.isThreadLoading
  return {
    stream: first.stream,
    isRunning: isRunning || first.isRunning,
    isAsking,
    stop,
    async answer(responses) {
      // The first state may have questions that the stream has not read yet.
      await stream.hydrationPromise.catch(() => {})
      await stream.respondAll(responses)
    },
  }
}

/**
 * Sends queued messages to the server when the user opens another conversation, reloads or closes the page.
 * The SDK keeps them in the page, so they would be lost. The server runs them in order after the current run.
 */
function useHandOver(
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

/**
 * Synchronizes a conversation with the list of threads. A thread without a run has no stream, and no event
 * reports that an interrupt was answered elsewhere. So the state is read again when the list reports a
 * change.
 */
function useInStep(
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

/**
 * Cancels all runs of a thread, whichever client started them. `useStream().stop()` only cancels a run that
 * this page started: after a reload, it only stops listening. The page keeps listening, and learns from the
 * stream that the run has ended, like every other page.
 */
function useStop(
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
