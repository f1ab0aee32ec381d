import {
  type ContentBlock,
  createMessageEncoder,
  encodeMessage,
  type Message,
  type MessageEvent,
  type ToolCallBlock,
  type WireMessageEvent,
} from '../../messages/index.ts'
import { handled } from './event-queue.ts'
import { NODE } from './namespace-state.ts'
import { callIdOf, idOf, nextPath, type OpenMessage, rejectSuspended, type Scope } from './scope.ts'
import { frozenCopy, isKnown } from './state.ts'
import type { MessageEnd, MessageOptions, MessageWriter, ToolCallRequest } from './types.ts'

/** A message of a scope that is being written. */
export interface MessageDraft {
  readonly id: string
  /** The message, once it has ended. */
  readonly ended: Message | undefined
  /** Settles when the reader has caught up. */
  push(event: MessageEvent): Promise<void>
  /** Adds the message to the state as far as it is written. Ending twice gives the same message. */
  end(): Message
  /** Reports to readers that the message will not be finished. */
  fail(reason: string): void
}

/**
 * Starts a message of a scope. The events of a message that an earlier attempt has delivered are held back until it ends, and
 * are sent only if the message differs from the delivered one.
 *
 * @param close Pushes the closing events, also where the function ends before the message does.
 */
export function openDraft(
  scope: Scope,
  path: string,
  id = idOf(scope, path),
  close: () => void = () => {},
): MessageDraft {
  const { attempt, state } = scope
  const held: WireMessageEvent[] | undefined = state.wasDelivered(id) ? [] : undefined
  const slot = freeSlot(scope)
  const node = slot === 0 ? NODE : `${NODE}:${slot + 1}`
  const send = (data: WireMessageEvent) => attempt.queue.put(state.event('messages', data, node))
  const encoder = createMessageEncoder((data) => (held ? held.push(data) : send(data)), id)
  let ended: Message | undefined

  const open: OpenMessage = { node: slot, end: () => void end(), fail }
  // Earlier messages are published in the state before this one begins.
  state.flush()
  scope.openMessages.add(open)

  function end(): Message {
    if (ended) return ended
    close()
    scope.openMessages.delete(open)
    ended = encoder.message()
    const wire = encodeMessage(ended)
    if (held && isKnown(state.current(), wire)) return ended
    for (const data of held ?? []) send(data)
    state.update({ messages: [wire] }, () => id)
    return ended
  }

  function fail(reason: string): void {
    scope.openMessages.delete(open)
    if (!held) encoder.push({ type: 'error', message: reason })
  }

  return {
    id,
    get ended() {
      return ended
    },
    push(event) {
      encoder.push(event)
      return attempt.queue.ready()
    },
    end,
    fail,
  }
}

/** Clients assemble messages by namespace and node, so two messages that are written at once need two nodes. */
function freeSlot({ openMessages }: Scope): number {
  const taken = new Set([...openMessages].map(({ node }) => node))
  let slot = 0
  while (taken.has(slot)) slot++
  return slot
}

/** Streams a message of a scope, piece by piece. */
export function openMessage(
  scope: Scope,
  options: MessageOptions = {},
  path = nextPath(scope, 'm'),
): MessageWriter {
  const { attempt } = scope
  const draft = openDraft(scope, path, options.id, close)
  const { id, push } = draft
  let index = -1
  let streaming: 'text' | 'reasoning' | undefined
  let calls = 0
  let details: MessageEnd = {}

  void push({
    type: 'messageStart',
    role: 'assistant',
    id,
    ...(options.name !== undefined && { name: options.name }),
  })

  function closeBlock(): void {
    if (streaming) void push({ type: 'blockFinish', index })
    streaming = undefined
  }

  function close(): void {
    const { reason, usage, metadata } = details
    closeBlock()
    void push({
      type: 'messageFinish',
      reason: reason ?? (calls > 0 ? 'toolCalls' : 'stop'),
      ...(usage && { usage }),
      ...(metadata && { metadata }),
    })
  }

  function append(type: 'text' | 'reasoning', text: string): Promise<void> {
    if (text === '') return attempt.queue.ready()
    if (streaming !== type) {
      closeBlock()
      streaming = type
      void push({ type: 'blockStart', index: ++index, block: { type, text: '' } })
    }
    return push({ type: 'blockDelta', index, delta: { type, text } })
  }

  function add(block: ContentBlock): Promise<void> {
    closeBlock()
    const kept = frozenCopy(block) as ContentBlock
    void push({ type: 'blockStart', index: ++index, block: kept })
    return push({ type: 'blockFinish', index, block: kept })
  }

  /** A suspended scope rejects. Writing to an ended message is a mistake, so it throws even where nobody awaits the writer. */
  function refused(): Promise<never> | undefined {
    if (draft.ended) throw new TypeError('The message has ended. Start another one.')
    return rejectSuspended(scope)
  }

  async function addCall({
    id: given,
    name,
    args,
  }: ToolCallRequest): Promise<ToolCallBlock & { readonly id: string }> {
    const callId = given ?? callIdOf(scope, `${path}/call${calls}`)
    const call = { type: 'toolCall', id: callId, name, args } as const
    calls++
    await add(call)
    return call
  }

  async function end(given: MessageEnd = {}): Promise<Message> {
    details = given
    const message = draft.end()
    await attempt.queue.ready()
    return message
  }

  return {
    id,
    text: (text) => refused() ?? append('text', text),
    reasoning: (text) => refused() ?? append('reasoning', text),
    block: (block) => refused() ?? add(block),
    toolCall: (call) => refused() ?? handled(addCall(call)),
    usage: (usage) => refused() ?? push({ type: 'usage', usage }),
    end: (given) => (draft.ended ? handled(end()) : (refused() ?? handled(end(given)))),
  }
}
