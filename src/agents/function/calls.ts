import { encodeMessage, type Message, textOf } from '../../messages/index.ts'
import { toJson } from '../to-json.ts'
import { isSuspended } from './interrupts.ts'
import { answerWrites } from './journal.ts'
import { openMessage } from './message-writer.ts'
import { type CallBatch, callIdOf, idOf, nextPath, type Scope } from './scope.ts'
import { insertAnswer, isKnown, messagesOf, own } from './state.ts'
import type { CallOptions } from './types.ts'

/** A tool call in progress. */
export interface Call {
  readonly id: string
  readonly path: string
  /** Where its events go. */
  readonly namespace: readonly string[]
  /** Its place among the calls of its assistant message. */
  readonly index: number
  /** An earlier attempt has delivered it, start to end. */
  readonly delivered: boolean
}

export interface CallRequest<T> {
  readonly kind: 't' | 's'
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly options: CallOptions | undefined
  run(call: Call): Promise<T>
  /** What the tool message says. */
  answer(result: T): string
}

/** Shows a call, runs it, and adds its answer to the state. Rejects with what `run` throws. */
export async function runCall<T>(scope: Scope, request: CallRequest<T>): Promise<T> {
  const { attempt, ledger } = scope
  const { name, options } = request
  const path = nextPath(scope, request.kind)
  const id = options?.toolCallId ?? callIdOf(scope, path)
  const args = own(request.args) as Readonly<Record<string, unknown>>
  const index =
    options?.toolCallId === undefined ? await announce(scope, path, { id, name, args }) : publish(scope, id)
  const task = idOf(scope, path)
  const namespace = [...scope.namespace, `tools:${task}`]
  const answerId = idOf(scope, `${path}/answer`)
  const call: Call = { id, path, namespace, index, delivered: ledger.wasDelivered(answerId) }
  const send = (method: 'tools' | 'lifecycle', data: unknown) => {
    if (!call.delivered) attempt.outbox.put({ method, namespace, data })
  }

  async function settle(message: Message, event: Record<string, unknown>): Promise<void> {
    const wire = encodeMessage(message)
    attempt.started.delete(namespace)
    if (call.delivered && isKnown(ledger.state(), wire)) return
    send('tools', event.event === 'tool-finished' ? { ...event, output: wire } : event)
    ledger.change({ messages: [wire] }, insertAnswer(ledger.state(), wire))
    const completed = {
      method: 'lifecycle',
      namespace,
      data: { event: 'completed', graph_name: 'tools' },
    } as const
    await ledger.commit({
      between: call.delivered ? [] : [completed],
      // Where a subagent of a finished thread has its state, clients learn from the task that answered its call.
      ...(request.kind === 's' && {
        before: () => ledger.timeline.putWrites(task, answerWrites(index, wire)),
      }),
    })
  }

  const answer = { role: 'tool', id: answerId, name, toolCallId: id } as const
  if (!call.delivered) attempt.started.add(namespace)
  const cause = { type: 'toolCall', tool_call_id: id }
  send('lifecycle', { event: 'started', graph_name: 'tools', cause })
  send('tools', { event: 'tool-started', tool_call_id: id, tool_name: name, input: JSON.stringify(args) })
  let result: T
  try {
    result = await request.run(call)
  } catch (error) {
    if (isSuspended(error)) throw error
    const text = error instanceof Error ? error.message : String(error)
    const content = [{ type: 'text', text }] as const
    await settle(
      { ...answer, status: 'error', content },
      { event: 'tool-error', tool_call_id: id, message: text },
    )
    throw error
  }
  const content = [{ type: 'text', text: request.answer(result) }] as const
  await settle({ ...answer, status: 'success', content }, { event: 'tool-finished', tool_call_id: id })
  return result
}

/** Writes the assistant message with the calls of this turn of the loop. Gives the place of the call in it. */
async function announce(scope: Scope, path: string, call: CallBatch['calls'][number]): Promise<number> {
  scope.batch ??= startBatch(scope, path)
  const { calls, announced } = scope.batch
  const index = calls.push(call) - 1
  await announced
  return index
}

function startBatch(scope: Scope, path: string): CallBatch {
  const calls: CallBatch['calls'] = []
  const announced = Promise.resolve().then(async () => {
    scope.batch = undefined
    // They were made before an interrupt that the scope may wait at by now.
    const message = openMessage({ ...scope, suspended: false }, {}, `${path}/calls`)
    for (const call of calls) void message.toolCall(call)
    void message.end()
    if (scope.ledger.dirty) await scope.ledger.commit()
  })
  return { calls, announced }
}

/** Publishes the assistant message that has the call, if that was not done yet. Gives the place of the call in it. */
function publish({ ledger }: Scope, callId: string): number {
  ledger.flush()
  for (const { tool_calls: calls } of [...messagesOf(ledger.state())].reverse()) {
    const index = Array.isArray(calls)
      ? calls.findIndex((call) => (call as { id?: unknown }).id === callId)
      : -1
    if (index >= 0) return index
  }
  return 0
}

/** What a result says in a tool message. */
export function textOfResult(result: unknown): string {
  if (typeof result === 'string') return result
  return result === undefined ? '' : JSON.stringify(toJson(result))
}

export function lastText(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'assistant')
  return last ? textOf(last) : ''
}
