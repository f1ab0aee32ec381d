import type { EventData } from '../../events/index.ts'
import { type Fields, type Frame, type FrameRequest, fieldsOf, graphOf } from './frame.ts'
import { createMessageDraft, type MessageDraft } from './message-draft.ts'

type Namespace = readonly string[]

const NOTHING: readonly Frame[] = []

/** The frames of messages that are being written, and of those that a state has. */
export function createMessageFrames({ threadId, runId, modes, isClassic }: FrameRequest) {
  const drafts = new Map<string, MessageDraft>()
  const noted = new Map<unknown, unknown>()
  const completed = new Set<unknown>()
  const wantsPartial = modes.includes('messages')
  const wantsTuples = modes.includes('messages-tuple') && !isClassic

  function ofEvent(
    namespace: Namespace,
    node: string | undefined,
    data: EventData['messages'],
  ): readonly Frame[] {
    const key = JSON.stringify([namespace, node, data.run_id])
    if (data.event === 'message-start') {
      if (data.role === 'ai' || data.role === undefined) drafts.set(key, createMessageDraft(data))
      else drafts.delete(key)
      return NOTHING
    }
    const draft = drafts.get(key)
    if (!draft) return NOTHING
    const chunk = draft.push(data)
    if (data.event === 'message-finish' || data.event === 'error') drafts.delete(key)
    if (!chunk) return NOTHING
    const metadata = noted.get(draft.id) ?? metadataOf(namespace, node)
    const graph = graphOf(namespace)
    // The names of these events have no namespace, and those of subgraphs are never left out.
    const frame = (event: string, content: unknown): Frame => ({
      mode: 'messages',
      event: `messages/${event}`,
      namespace: [],
      data: content,
      isOfMessage: true,
    })
    return [
      ...(wantsPartial && draft.isFirst() ? [frame('metadata', { [draft.id]: { metadata } })] : []),
      ...(wantsPartial ? [frame('partial', [draft.message()])] : []),
      ...(wantsTuples ? [tuple(graph, [chunk, metadata])] : []),
    ]
  }

  const tuple = (namespace: Namespace, data: unknown): Frame => ({
    mode: 'messages-tuple',
    event: 'messages',
    namespace,
    data,
    isOfMessage: true,
  })

  /** What the log tells of where a message comes from, where no client of the REST asked for the run. */
  const metadataOf = (namespace: Namespace, node: string | undefined): Fields => ({
    thread_id: threadId,
    run_id: runId,
    ...(node !== undefined && { langgraph_node: node }),
    langgraph_checkpoint_ns: namespace.join('|'),
    checkpoint_ns: namespace.join('|'),
  })

  return {
    /** Whether frames are made of the events of messages. */
    areWanted: wantsPartial || wantsTuples,
    of: ofEvent,
    /** The metadata of a message that begins. */
    note({ id, metadata }: Fields): void {
      noted.set(id, metadata)
    },
    /** Whether frames are made of the messages of states. */
    wantsStates: wantsPartial,
    /** The messages of a state that no state before it had. */
    complete(namespace: Namespace, state: unknown): readonly Frame[] {
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
