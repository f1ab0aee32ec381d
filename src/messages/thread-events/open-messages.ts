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
  return {
    /** The message of an event, including its first and last. Undefined if its first event is unknown. */
    of(event: Event): Message | undefined {
      const { namespace, node, data } = event
      const key = `${data.run_id}\n${node}\n${namespace.join('\n')}`
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

/** Whether this event ends a message. */
export const isEnd = ({ event }: AgentEvent<'messages'>['data']): boolean =>
  event === 'message-finish' || event === 'error'
