import {
  type ContentBlock,
  createMessageEncoder,
  decodeMessage,
  encodeMessage,
  type Message,
  type MessageEvent,
  textOf,
  type Usage,
  type WireMessage,
  type WireMessageEvent,
} from '../../../messages/index.ts'
import { defined } from '../../../messages/record.ts'
import type { AgentEvent } from '../../../messages/thread-events/index.ts'
import { createMessageNormalizer } from '../../message-order.ts'
import { CUT_OFF, partialMessage } from '../../open-calls.ts'
import { handled } from '../event-queue.ts'
import type { CompletedCall } from '../journal/call-log.ts'
import { NODE } from '../namespace-state.ts'
import {
  callIdOf,
  idOf,
  nextPath,
  type OpenWrite,
  rejectSuspended,
  replayedCall,
  type Scope,
} from '../scope.ts'
import { frozenCopy, messagesOf } from '../state.ts'
import type { MessageEnd, MessageOptions, MessageWriter, ToolCallRequest } from '../types.ts'

export interface MessageDraft {
  readonly id: string
  readonly ended: Message | undefined
  push(event: MessageEvent): void
  ready(): Promise<void>
  /** Call once, after `end`. Settles at the turn of the message. */
  turn(): Promise<void>
  /** Adds the message to the state, as far as it is written. Ending twice returns the same message. */
  end(): Message
  /** Reports to readers that the message will not be finished. */
  fail(reason: string): void
}

/**
 * Starts a message of a scope. If an earlier attempt completed it, returns that message and ignores pushed
 * events.
 *
 * @param close Pushes the closing events, even if the function ends before the message.
 */
export function openDraft(
  scope: Scope,
  kind: 'message' | 'model',
  path: string,
  id = idOf(scope, path),
  close: () => void = () => {},
): MessageDraft {
  const { attempt, state } = scope
  const call = { path, kind } as const
  const replayed = replayedCall(scope, call)
  if (replayed) return replayedDraft(scope, replayed)
  const slot = freeSlot(scope)
  const node = slot === 0 ? NODE : `${NODE}:${slot + 1}`
  const { send, collect } = createSender(scope, kind, node)
  const encoder = createMessageEncoder(send, id)
  let ended: Message | undefined

  const open: OpenWrite = { node: slot, end: () => void end(), fail, cut }
  // Earlier messages are published in the state before this one begins.
  state.flush()
  scope.openWrites.add(open)

  function end(): Message {
    if (ended) return ended
    close()
    scope.openWrites.delete(open)
    ended = encoder.message()
    const wire = encodeMessage(ended)
    state.complete({ ...call, result: id }, () => state.update({ messages: [wire] }, () => id))
    return ended
  }

  function fail(reason: string): void {
    scope.openWrites.delete(open)
    encoder.push({ type: 'error', message: reason })
  }

  function cut(): readonly AgentEvent[] {
    const { name, ...message } = encoder.message()
    const partial = partialMessage(id, textOf(message), name)
    if (partial) state.update({ messages: [partial] }, () => id)
    if (message.content.length === 0) return []
    // The queue is closed: a cancelled run sends nothing itself.
    const ends = collect()
    encoder.push({ type: 'messageFinish', metadata: CUT_OFF })
    return ends
  }

  return {
    id,
    get ended() {
      return ended
    },
    push: encoder.push,
    ready: attempt.queue.ready,
    turn: () => turnOfLast(scope),
    end,
    fail,
  }
}

function turnOfLast({ attempt, state }: Scope): Promise<void> {
  state.log.begin()
  return state.log.turnOfLast(attempt.queue.ready())
}

/** Sends the events of a message. After `collect`, they are added to its result instead. */
function createSender({ attempt, state }: Scope, kind: 'message' | 'model', node: string) {
  let put = (event: AgentEvent): unknown => attempt.queue.put(event)
  // A provider's chunks may alternate between blocks.
  const normalize = kind === 'model' ? createMessageNormalizer().normalize : undefined
  return {
    send(data: WireMessageEvent): void {
      const sent = normalize?.('', data) as readonly WireMessageEvent[] | undefined
      for (const one of sent ?? [data]) put(state.event('messages', one, node))
    },
    collect(): readonly AgentEvent[] {
      const events: AgentEvent[] = []
      put = (event) => events.push(event)
      return events
    },
  }
}

export function replayedDraft({ state }: Scope, { path, result, change }: CompletedCall): MessageDraft {
  const { log } = state
  const id = result as string
  let ended: Message | undefined
  return {
    id,
    get ended() {
      return ended
    },
    push: () => {},
    ready: () => Promise.resolve(),
    turn() {
      log.begin()
      return log.turnOf(path)
    },
    end() {
      log.advance(path)
      // A message that did not change the state, because it was already there, is read from the state.
      const added = [
        ...messagesOf(change?.set ?? {}),
        ...(change?.messages?.added ?? []),
        ...messagesOf(state.seen()),
      ]
      ended ??= decodeMessage((added as WireMessage[]).find((message) => message.id === id)!)!
      return ended
    },
    fail: () => {},
  }
}

/** Clients assemble messages by namespace and node, so concurrent messages need different nodes. */
function freeSlot({ openWrites }: Scope): number {
  const taken = new Set([...openWrites].map(({ node }) => node))
  let slot = 0
  while (taken.has(slot)) slot++
  return slot
}

interface OpenMessage {
  readonly draft: MessageDraft
  /** The index of the last block. */
  index: number
  streaming: 'text' | 'reasoning' | undefined
  calls: number
  details: MessageEnd
}

export function openMessage(
  scope: Scope,
  options: MessageOptions = {},
  path = nextPath(scope),
): MessageWriter {
  const draft = openDraft(scope, 'message', path, options.id, () => close(message))
  const { id, push, ready } = draft
  const message: OpenMessage = { draft, index: -1, streaming: undefined, calls: 0, details: {} }
  push({ type: 'messageStart', role: 'assistant', id, ...defined({ name: options.name }) })

  /** Writing to an ended message throws even if the call is not awaited, because it is a mistake. */
  function refused(): Promise<never> | undefined {
    if (draft.ended) throw new TypeError('The message has ended. Start a new one.')
    return rejectSuspended(scope)
  }

  function report(usage: Usage): Promise<void> {
    push({ type: 'usage', usage })
    return ready()
  }

  async function addCall({ id: given, name, args }: ToolCallRequest) {
    const id = given ?? callIdOf(scope, `${path}/call${message.calls++}`)
    const call = { type: 'toolCall', id, name, args } as const
    await add(message, call)
    return call
  }

  async function end(given: MessageEnd = {}): Promise<Message> {
    if (draft.ended) return draft.ended
    message.details = given
    const whole = draft.end()
    await draft.turn()
    return whole
  }

  return {
    id,
    text: (text) => refused() ?? append(message, 'text', text),
    reasoning: (text) => refused() ?? append(message, 'reasoning', text),
    block: (block) => refused() ?? add(message, block),
    toolCall: (call) => refused() ?? handled(addCall(call)),
    usage: (usage) => refused() ?? report(usage),
    end: (given) => (draft.ended ? handled(end()) : (refused() ?? handled(end(given)))),
  }
}

function closeBlock(message: OpenMessage): void {
  if (message.streaming) message.draft.push({ type: 'blockFinish', index: message.index })
  message.streaming = undefined
}

function close(message: OpenMessage): void {
  const { reason = message.calls > 0 ? 'toolCalls' : 'stop', usage, metadata } = message.details
  closeBlock(message)
  message.draft.push({ type: 'messageFinish', reason, ...defined({ usage, metadata }) })
}

function append(message: OpenMessage, type: 'text' | 'reasoning', text: string): Promise<void> {
  const { push, ready } = message.draft
  if (text === '') return ready()
  if (message.streaming !== type) {
    closeBlock(message)
    message.streaming = type
    push({ type: 'blockStart', index: ++message.index, block: { type, text: '' } })
  }
  push({ type: 'blockDelta', index: message.index, delta: { type, text } })
  return ready()
}

function add(message: OpenMessage, block: ContentBlock): Promise<void> {
  const { push, ready } = message.draft
  closeBlock(message)
  const kept = frozenCopy(block) as ContentBlock
  const index = ++message.index
  push({ type: 'blockStart', index, block: kept })
  push({ type: 'blockFinish', index, block: kept })
  return ready()
}
