import {
  createMessageEncoder,
  encodeMessage,
  type Message,
  type MessageEvent,
  type WireMessageEvent,
} from '../../messages/index.ts'
import { NODE } from './namespace-state.ts'
import { idOf, type OpenMessage, type Scope } from './scope.ts'
import { isKnown } from './state.ts'

/** A message of a scope that is being written. */
export interface MessageDraft {
  readonly id: string
  /** The message, once it has ended. */
  readonly ended: Message | undefined
  /** Settles when readers have caught up. */
  push(event: MessageEvent): Promise<void>
  /** Adds the message to the state, as far as it is written. A second time gives the same message. */
  end(): Message
  /** Tells readers that it will not be finished. */
  fail(reason: string): void
}

/**
 * Starts a message of a scope. One that an earlier attempt has delivered is held back until it ends, and sent only if it came
 * out differently.
 *
 * @param close Writes what is missing at its end, where the function ends before the message does.
 */
export function openDraft(
  scope: Scope,
  path: string,
  id = idOf(scope, path),
  close: () => void = () => {},
): MessageDraft {
  const { attempt, ledger } = scope
  const held: WireMessageEvent[] | undefined = ledger.wasDelivered(id) ? [] : undefined
  const slot = freeSlot(scope)
  const node = slot === 0 ? NODE : `${NODE}:${slot + 1}`
  const send = (data: WireMessageEvent) => attempt.outbox.put(ledger.event('messages', data, node))
  const encoder = createMessageEncoder((data) => (held ? held.push(data) : send(data)), id)
  let ended: Message | undefined

  const open: OpenMessage = { node: slot, end: () => void end(), fail }
  // What was written before stands in the state before this message begins.
  ledger.flush()
  scope.openMessages.add(open)

  function end(): Message {
    if (ended) return ended
    close()
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

  return {
    id,
    get ended() {
      return ended
    },
    push(event) {
      encoder.push(event)
      return attempt.outbox.ready()
    },
    end,
    fail,
  }
}

/** Clients put messages together by namespace and node: two that are written at once need two nodes. */
function freeSlot({ openMessages }: Scope): number {
  const taken = new Set([...openMessages].map(({ node }) => node))
  let slot = 0
  while (taken.has(slot)) slot++
  return slot
}
