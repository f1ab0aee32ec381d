import { createOpenMessages, type ThreadEvent } from '../../../messages/thread-events/index.ts'
import { type Fields, type Frame, type FrameRequest, fieldsOf, graphOf } from './frame.ts'
import { createMessageDraft } from './message-draft.ts'

const NOTHING: readonly Frame[] = []

/** The frames of streamed messages and of messages in states. */
export function createMessageFrames({ threadId, runId, modes, isClassic }: FrameRequest) {
  const drafts = createOpenMessages(({ data }: ThreadEvent<'messages'>) =>
    data.event === 'message-start' && (data.role ?? 'ai') === 'ai' ? createMessageDraft(data) : undefined,
  )
  const noted = new Map<unknown, unknown>()
  const completed = new Set<unknown>()
  const wantsPartial = modes.includes('messages')
  const wantsTuples = modes.includes('messages-tuple') && !isClassic

  function ofEvent(event: ThreadEvent<'messages'>): readonly Frame[] {
    const draft = drafts.of(event)
    const chunk = draft?.push(event.data)
    if (!draft || !chunk) return NOTHING
    const metadata = noted.get(draft.id) ?? metadataOf(event)
    return [
      ...(wantsPartial && draft.isFirst() ? [frame('metadata', { [draft.id]: { metadata } })] : []),
      ...(wantsPartial ? [frame('partial', [draft.message()])] : []),
      ...(wantsTuples ? [tuple(graphOf(event.namespace), [chunk, metadata])] : []),
    ]
  }

  /** A message's metadata, as far as the log has it, because no REST client requested the run. */
  const metadataOf = ({ namespace, node }: ThreadEvent<'messages'>): Fields => ({
    thread_id: threadId,
    run_id: runId,
    ...(node !== undefined && { langgraph_node: node }),
    langgraph_checkpoint_ns: namespace.join('|'),
    checkpoint_ns: namespace.join('|'),
  })

  return {
    /** Whether message events produce frames. */
    areWanted: wantsPartial || wantsTuples,
    of: ofEvent,
    /** Stores the metadata of a new message. */
    note({ id, metadata }: Fields): void {
      noted.set(id, metadata)
    },
    /** Whether messages in states produce frames. */
    wantsStates: wantsPartial,
    /** The messages of a state that no earlier state had. */
    complete(namespace: readonly string[], state: unknown): readonly Frame[] {
      const { messages } = fieldsOf(state)
      if (namespace.length > 0 || !Array.isArray(messages)) return NOTHING
      const fresh = messages.filter((message) => {
        const { id } = fieldsOf(message)
        return typeof id === 'string' && !completed.has(id) && completed.add(id)
      })
      return fresh.length === 0
        ? NOTHING
        : [{ mode: 'messages', event: 'messages/complete', namespace, data: fresh }]
    },
  }
}

/** The names of these events have no namespace, and subgraph events are never left out. */
const frame = (event: string, data: unknown): Frame => ({
  mode: 'messages',
  event: `messages/${event}`,
  namespace: [],
  data,
  isOfMessage: true,
})

const tuple = (namespace: readonly string[], data: unknown): Frame => ({
  mode: 'messages-tuple',
  event: 'messages',
  namespace,
  data,
  isOfMessage: true,
})
