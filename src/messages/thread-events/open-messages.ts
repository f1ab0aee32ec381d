import type { AgentEvent } from './event-data.ts'

/**
 * Tracks the messages that are being written. There may be several at the same time. The events of a message
 * share their namespace, node and model call.
 *
 * @param begin Creates the record of a message that begins.
 */
export function createOpenMessages<Event extends AgentEvent<'messages'>, Message>(
  begin: (event: Event, id: string | undefined) => Message,
) {
  const open = new Map<string, Message>()
  /** The event before, whose message most events continue. */
  let last: { readonly event: Event; readonly key: string } | undefined
  return {
    /** The message of an event, including its first and last. Undefined if its first event is unknown. */
    of(event: Event): Message | undefined {
      const { data } = event
      const key = last && isOfSame(last.event, event) ? last.key : messageKey(event)
      last = { event, key }
      if (data.event === 'message-start') open.set(key, begin(event, data.id))
      const message = open.get(key)
      if (isEnd(data)) open.delete(key)
      return message
    },
    /** The messages without an end. */
    all: (): readonly Message[] => [...open.values()],
    clear: () => open.clear(),
  }
}

const messageKey = ({ namespace, node, data }: AgentEvent<'messages'>): string =>
  `${data.run_id}\n${node}\n${namespace.join('\n')}`

const isOfSame = (one: AgentEvent<'messages'>, other: AgentEvent<'messages'>): boolean =>
  one.data.run_id === other.data.run_id &&
  one.node === other.node &&
  one.namespace.length === other.namespace.length &&
  one.namespace.every((segment, at) => segment === other.namespace[at])

/** Whether this event ends a message. */
export const isEnd = ({ event }: AgentEvent<'messages'>['data']): boolean =>
  event === 'message-finish' || event === 'error'

type Namespace = readonly string[]

/** Maps namespaces to the tool calls that they belong to. */
interface CallScopes {
  /** A call began at this namespace. */
  begin(namespace: Namespace, toolCallId: string): void
  /** Whether this call began at exactly this namespace. */
  isAt(namespace: Namespace, toolCallId: string | null): boolean
  /**
   * The innermost call that contains a namespace, or its first `length` segments. If the call began before
   * the first event, its segment such as `tools:<task id>`. Null outside of all calls.
   */
  ownerOf(namespace: Namespace, length?: number): string | null
}

export function createCallScopes(): CallScopes {
  const callOf = new Map<string, string>()
  return {
    begin: (namespace, toolCallId) => void callOf.set(keyOf(namespace), toolCallId),
    isAt: (namespace, toolCallId) => callOf.get(keyOf(namespace)) === toolCallId,
    ownerOf(namespace, length = namespace.length) {
      for (let end = length; end > 0; end--) {
        const call = callOf.get(keyOf(namespace.slice(0, end)))
        if (call !== undefined) return call
      }
      return namespace.slice(0, length).findLast((segment) => segment.startsWith('tools:')) ?? null
    },
  }
}

const keyOf = (namespace: Namespace): string => JSON.stringify(namespace)
