import type { AgentEvent } from './event-data.ts'

/**
 * Follows which messages are being written. Several may be at once: the events of one share their namespace, node and
 * model call.
 *
 * @param begin Makes what is kept of a message that begins.
 */
export function createOpenMessages<Event extends AgentEvent<'messages'>, Message>(
  begin: (event: Event, id: string | undefined) => Message,
) {
  const open = new Map<string, Message>()
  return {
    /** The message of an event, also of its first and its last one. Undefined where its first one is not known. */
    of(event: Event): Message | undefined {
      const { namespace, node, data } = event
      const key = `${data.run_id}\n${node}\n${namespace.join('\n')}`
      if (data.event === 'message-start') open.set(key, begin(event, data.id))
      const message = open.get(key)
      if (isEnd(data)) open.delete(key)
      return message
    },
    /** The messages that have no end. */
    all: (): readonly Message[] => [...open.values()],
    clear: () => open.clear(),
  }
}

/** Whether a message ends with this event. */
export const isEnd = ({ event }: AgentEvent<'messages'>['data']): boolean =>
  event === 'message-finish' || event === 'error'
