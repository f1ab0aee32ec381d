import type { AgentEvent } from '../../agents/agent.ts'
import { type RecordedEvent, SUPERSEDED } from '../log/frame.ts'

type Data = Readonly<Record<string, unknown>>

/** A message that an earlier attempt of a run has started. */
interface LostMessage {
  readonly id: unknown
  readonly namespace: readonly string[]
  readonly node: string | undefined
  /** The id of the model call, in events of graphs. */
  readonly callId: unknown
}

export interface LostMessages {
  readonly all: readonly LostMessage[]
  /** Those that have no end. */
  readonly open: readonly LostMessage[]
}

/** The messages that earlier attempts have sent. `sent` are their events of the channel `messages`. */
export async function lostMessages(
  sent: AsyncIterable<Pick<AgentEvent, 'namespace' | 'node' | 'data'>>,
): Promise<LostMessages> {
  const all: LostMessage[] = []
  const open = new Map<string, LostMessage>()
  for await (const { namespace, node, data } of sent) {
    const { event, id, run_id: callId } = data as Data
    const place = JSON.stringify([namespace, node, callId])
    if (event === 'message-start') {
      const message = { id, namespace, node, callId }
      all.push(message)
      open.set(place, message)
    } else if (event === 'message-finish' || event === 'error') open.delete(place)
  }
  return { all, open: [...open.values()] }
}

/** The events that end the messages which a lost attempt left open. */
export const endsOf = ({ open }: LostMessages): readonly RecordedEvent[] =>
  open.map(({ namespace, node, callId }) => ({
    method: 'messages',
    namespace,
    ...(node !== undefined && { node }),
    data: {
      event: 'error',
      message: 'The server that wrote this message was lost. It is written again.',
      code: SUPERSEDED,
      ...(callId !== undefined && { run_id: callId }),
    },
    detail: SUPERSEDED,
  }))

/**
 * Takes lost messages back from clients, which keep a streamed message until a state that has it is followed by one without it.
 * The result is called with each event of the attempt, and gives what to send before it: at the first `values` of a namespace,
 * a state that also removes the messages which that state lacks, and the `checkpoints` event that belongs to the true one.
 */
export function createRetraction({ all }: LostMessages): (event: AgentEvent) => readonly RecordedEvent[] {
  const seen = new Set<string>()
  const checkpoints = new Map<string, AgentEvent>()
  return (event) => {
    const { method, namespace } = event
    const key = namespace.join('|')
    if (method === 'checkpoints') checkpoints.set(key, event)
    if (method !== 'values' || seen.has(key)) return []
    seen.add(key)
    const { messages } = Object(event.data) as { readonly messages?: unknown }
    if (!Array.isArray(messages)) return []
    const kept = new Set(messages.map((message) => (Object(message) as Data).id))
    const gone = all.filter(
      ({ id, namespace: at }) => typeof id === 'string' && !kept.has(id) && isShownIn(namespace, at),
    )
    if (gone.length === 0) return []
    const removals = [...new Set(gone.map(({ id }) => id))].map((id) => ({ type: 'remove', id, content: '' }))
    const data = { ...(event.data as Data), messages: [...messages, ...removals] }
    const checkpoint = checkpoints.get(key)
    return [{ ...event, data }, ...(checkpoint ? [checkpoint] : [])].map((one) => ({
      ...one,
      detail: SUPERSEDED,
    }))
  }
}

/** Whether clients list a message of the namespace `at` with the state of `namespace`: subagents have lists of their own. */
const isShownIn = (namespace: readonly string[], at: readonly string[]): boolean =>
  namespace.every((segment, i) => segment === at[i]) &&
  !at.slice(namespace.length).some((segment) => /^(tools|task):/.test(segment))
