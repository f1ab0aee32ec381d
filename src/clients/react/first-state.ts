import { type BaseMessage, coerceMessageLikeToMessage } from '@langchain/core/messages'
import type { AnyStream } from '@langchain/react'
import { useMemo, useRef } from 'react'

/** A thread's state as `GET /threads/{thread_id}/state` returns it. */
export interface FirstState {
  readonly values: Readonly<Record<string, unknown>>
  /** Not empty while a run is active, or waits for a response. */
  readonly next: readonly string[]
  readonly tasks?: readonly { readonly interrupts?: readonly unknown[] }[]
}

/** What a page shows of a state. */
interface FirstView {
  readonly values: Readonly<Record<string, unknown>>
  readonly messages: readonly BaseMessage[]
  readonly interrupts: readonly unknown[]
  readonly isRunning: boolean
}

export function viewOf({ values, next, tasks = [] }: FirstState): FirstView {
  const messages = Array.isArray(values.messages) ? values.messages.flatMap(messageOf) : []
  const interrupts = tasks.flatMap((task) => task.interrupts ?? [])
  return {
    values: { ...values, messages },
    messages,
    interrupts,
    isRunning: next.length > 0 && interrupts.length === 0,
  }
}

/** A message that LangChain does not know is shown when the stream has it. */
function messageOf(message: unknown): readonly BaseMessage[] {
  try {
    return [coerceMessageLikeToMessage(message as Parameters<typeof coerceMessageLikeToMessage>[0])]
  } catch {
    return []
  }
}

/**
 * Whether a stream has everything that the page has shown before: each message at least as long, or a message
 * of the agent that began later.
 */
export function hasReached(first: readonly BaseMessage[], now: readonly BaseMessage[]): boolean {
  const before = byKey(first)
  const after = byKey(now)
  const isLater = ([key, { type }]: readonly [string, BaseMessage]): boolean =>
    type !== 'human' && !before.has(key)
  return [...after].some(isLater) || [...before].every(([key, message]) => isWhole(after.get(key), message))
}

/** The messages of a stream, with those of the first state where the stream does not have as much of them. */
export function withFirst(
  first: readonly BaseMessage[],
  now: readonly BaseMessage[],
): readonly BaseMessage[] {
  const before = byKey(first)
  const after = byKey(now)
  const begun = [...before].map(([key, message]) => {
    const streamed = after.get(key)
    return isWhole(streamed, message) ? streamed : message
  })
  return [...begun, ...[...after].flatMap(([key, message]) => (before.has(key) ? [] : message))]
}

/** By id, or by the place of a message without one. */
const byKey = (messages: readonly BaseMessage[]): ReadonlyMap<string, BaseMessage> =>
  new Map(messages.map((message, at) => [message.id ?? `#${at}`, message]))

const isWhole = (streamed: BaseMessage | undefined, shown: BaseMessage): streamed is BaseMessage =>
  streamed !== undefined && lengthOf(streamed) >= lengthOf(shown)

/** The length of what a message says and thinks. */
function lengthOf({ content }: BaseMessage): number {
  if (typeof content === 'string') return content.length
  return content.reduce((sum, { text, reasoning }) => sum + sizeOf(text) + sizeOf(reasoning), 0)
}

const sizeOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0)

/**
 * A stream that begins with a state which a server has read, and shows nothing less until it has reached that
 * state: at first it has read nothing, and then it repeats a running answer from its beginning.
 */
export function useFirstState<Stream extends AnyStream>(
  stream: Stream,
  state: FirstState | undefined,
): { readonly stream: Stream; readonly isRunning: boolean } {
  // The state counts on the first render only.
  const first = useRef(useMemo(() => state && viewOf(state), [state])).current
  const isOver = useRef(first === undefined)
  const { messages, isLoading, isThreadLoading } = stream
  // Without a run, the state that was read is newer.
  if (first && !isThreadLoading) isOver.current ||= !isLoading || hasReached(first.messages, messages)
  const view = isOver.current ? undefined : first

  const shown = useMemo((): Stream => {
    if (!view) return stream
    const merged = { ...stream, messages: withFirst(view.messages, stream.messages) }
    if (!stream.isThreadLoading) return merged as Stream
    const { values, interrupts } = view
    return { ...merged, values, interrupts, interrupt: interrupts[0] } as unknown as Stream
  }, [stream, view])
  return { stream: shown, isRunning: isThreadLoading && view?.isRunning === true }
}
