import {
  type ContentBlock,
  createMessageEncoder,
  encodeMessage,
  type Message,
  type MessageEvent,
  type ToolCallBlock,
  type WireMessageEvent,
} from '../../messages/index.ts'
import { NODE } from './ledger.ts'
import { callIdOf, idOf, nextPath, type OpenMessage, refusal, type Scope } from './scope.ts'
import { isKnown, own } from './state.ts'
import type { MessageEnd, MessageOptions, MessageWriter, ToolCallRequest } from './types.ts'

/**
 * Streams a message of a scope. One that an earlier attempt has delivered is held back until it ends, and sent only if it
 * came out differently.
 */
export function openMessage(
  scope: Scope,
  options: MessageOptions = {},
  path = nextPath(scope, 'm'),
): MessageWriter {
  const { attempt, ledger } = scope
  const id = options.id ?? idOf(scope, path)
  const held: WireMessageEvent[] | undefined = ledger.wasDelivered(id) ? [] : undefined
  const slot = freeSlot(scope)
  const node = slot === 0 ? NODE : `${NODE}:${slot + 1}`
  const send = (data: WireMessageEvent) => attempt.outbox.put(ledger.event('messages', data, node))
  const encoder = createMessageEncoder((data) => (held ? held.push(data) : send(data)), id)
  let index = -1
  let streaming: 'text' | 'reasoning' | undefined
  let calls = 0
  let ended: Message | undefined

  const open: OpenMessage = { node: slot, end: () => void finish(), fail }
  // What was written before stands in the state before this message begins.
  ledger.flush()
  scope.openMessages.add(open)
  encoder.push({
    type: 'messageStart',
    role: 'assistant',
    id,
    ...(options.name !== undefined && { name: options.name }),
  })

  function push(event: MessageEvent): Promise<void> {
    encoder.push(event)
    return attempt.outbox.ready()
  }

  function closeBlock(): void {
    if (streaming) encoder.push({ type: 'blockFinish', index })
    streaming = undefined
  }

  function append(type: 'text' | 'reasoning', text: string): Promise<void> {
    if (text === '') return attempt.outbox.ready()
    if (streaming !== type) {
      closeBlock()
      streaming = type
      encoder.push({ type: 'blockStart', index: ++index, block: { type, text: '' } })
    }
    return push({ type: 'blockDelta', index, delta: { type, text } })
  }

  function add(block: ContentBlock): Promise<void> {
    closeBlock()
    const kept = own(block) as ContentBlock
    encoder.push({ type: 'blockStart', index: ++index, block: kept })
    return push({ type: 'blockFinish', index, block: kept })
  }

  function finish({ reason, usage, metadata }: MessageEnd = {}): Message {
    if (ended) return ended
    closeBlock()
    encoder.push({
      type: 'messageFinish',
      reason: reason ?? (calls > 0 ? 'toolCalls' : 'stop'),
      ...(usage && { usage }),
      ...(metadata && { metadata }),
    })
    scope.openMessages.delete(open)
    ended = encoder.message()
    const wire = encodeMessage(ended)
    if (held && isKnown(ledger.state(), wire)) return ended
    for (const data of held ?? []) send(data)
    ledger.update({ messages: [wire] }, () => id)
    return ended
  }

  function fail(reason: string): void {
    scope.openMessages.delete(open)
    if (!held) encoder.push({ type: 'error', message: reason })
  }

  /** Where the scope waits nothing is taken; after its end, writing is a mistake, and loud also where nobody awaits it. */
  function refused(): Promise<never> | undefined {
    if (ended) throw new TypeError('The message has ended. Start another one.')
    return refusal(scope)
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

  async function end(details?: MessageEnd): Promise<Message> {
    const message = finish(details)
    await attempt.outbox.ready()
    return message
  }

  return {
    id,
    text: (text) => refused() ?? append('text', text),
    reasoning: (text) => refused() ?? append('reasoning', text),
    block: (block) => refused() ?? add(block),
    toolCall: (call) => refused() ?? addCall(call),
    usage: (usage) => refused() ?? push({ type: 'usage', usage }),
    end: (details) => (ended ? end() : (refused() ?? end(details))),
  }
}

/** Clients put messages together by namespace and node: two that are written at once need two nodes. */
function freeSlot({ openMessages }: Scope): number {
  const taken = new Set([...openMessages].map(({ node }) => node))
  let slot = 0
  while (taken.has(slot)) slot++
  return slot
}
