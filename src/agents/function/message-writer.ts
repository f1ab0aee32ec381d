import type { ContentBlock, Message, ToolCallBlock } from '../../messages/index.ts'
import { openDraft } from './message-draft.ts'
import { callIdOf, nextPath, refusal, type Scope } from './scope.ts'
import { own } from './state.ts'
import type { MessageEnd, MessageOptions, MessageWriter, ToolCallRequest } from './types.ts'

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
    if (text === '') return attempt.outbox.ready()
    if (streaming !== type) {
      closeBlock()
      streaming = type
      void push({ type: 'blockStart', index: ++index, block: { type, text: '' } })
    }
    return push({ type: 'blockDelta', index, delta: { type, text } })
  }

  function add(block: ContentBlock): Promise<void> {
    closeBlock()
    const kept = own(block) as ContentBlock
    void push({ type: 'blockStart', index: ++index, block: kept })
    return push({ type: 'blockFinish', index, block: kept })
  }

  /** Where the scope waits nothing is taken; after its end, writing is a mistake, and loud also where nobody awaits it. */
  function refused(): Promise<never> | undefined {
    if (draft.ended) throw new TypeError('The message has ended. Start another one.')
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

  async function end(given: MessageEnd = {}): Promise<Message> {
    details = given
    const message = draft.end()
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
    end: (given) => (draft.ended ? end() : (refused() ?? end(given))),
  }
}
