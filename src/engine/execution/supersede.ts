import { isRecord } from '../../messages/record.ts'
import { type AgentEvent, createOpenMessages } from '../../messages/thread-events/index.ts'
import { type RecordedEvent, SUPERSEDED } from '../log/frame.ts'
import { supersededEnd } from './outcome.ts'

/** A message that an earlier attempt of a run started. */
interface LostMessage {
  readonly id: string | undefined
  readonly namespace: readonly string[]
  readonly node: string | undefined
  /** The id of the model call, in events from graphs. */
  readonly callId: string | undefined
}

export interface LostMessages {
  readonly all: readonly LostMessage[]
  /** Messages without an end. */
  readonly open: readonly LostMessage[]
}

/** The messages that earlier attempts sent. */
export async function lostMessages(sent: AsyncIterable<AgentEvent>): Promise<LostMessages> {
  const all: LostMessage[] = []
  const open = createOpenMessages(({ namespace, node, data }: AgentEvent<'messages'>, id): LostMessage => {
    const message = { id, namespace, node, callId: data.run_id }
    all.push(message)
    return message
  })
  for await (const event of sent) if (event.method === 'messages') open.of(event)
  return { all, open: open.all() }
}

/** The events that end the messages that a lost attempt left open. */
export const endsOf = ({ open }: LostMessages): readonly RecordedEvent[] =>
  open.map((message) => supersededEnd(message, STOPPED, SUPERSEDED))

const STOPPED = 'The server that was writing this message stopped. The message is written again.'

/**
 * Retracts lost messages from clients, which keep a streamed message until a state that contains it is
 * followed by one without it. The result is called with each event of the attempt, and returns the events to
 * send before it: at the first `values` of a namespace, a state that also removes the messages that are not
 * in it, and the `checkpoints` event of the actual state.
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
    const state = event.data
    if (!isRecord(state) || !Array.isArray(state.messages)) return []
    const { messages } = state
    const kept = new Set(messages.map((message: unknown) => isRecord(message) && message.id))
    const gone = all.filter(
      ({ id, namespace: at }) => typeof id === 'string' && !kept.has(id) && isShownIn(namespace, at),
    )
    if (gone.length === 0) return []
    const removals = [...new Set(gone.map(({ id }) => id))].map((id) => ({ type: 'remove', id, content: '' }))
    const data = { ...state, messages: [...messages, ...removals] }
    const checkpoint = checkpoints.get(key)
    return [{ ...event, data }, ...(checkpoint ? [checkpoint] : [])].map((one) => ({
      ...one,
      detail: SUPERSEDED,
    }))
  }
}

/**
 * Whether clients list a message of the namespace `at` with the state of `namespace`: subagents have their
 * own lists.
 */
const isShownIn = (namespace: readonly string[], at: readonly string[]): boolean =>
  namespace.every((segment, i) => segment === at[i]) &&
  !at.slice(namespace.length).some((segment) => /^(tools|task):/.test(segment))
