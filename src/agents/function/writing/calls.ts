import { encodeMessage, type Message, textOf } from '../../../messages/index.ts'
import { type Fields, itemsOf } from '../../../messages/record.ts'
import { agentEvent, type EventData } from '../../../messages/thread-events/index.ts'
import { AgentInputError } from '../../errors.ts'
import { toJson } from '../../to-json.ts'
import { type CallIdentity, type CompletedCall, errorOf } from '../journal/call-log.ts'
import { answerWrites, digestOf } from '../journal/journal.ts'
import { type CallBatch, callIdOf, idOf, isSuspended, nextPath, replayedCall, type Scope } from '../scope.ts'
import { frozenCopy, insertAnswer, messagesOf } from '../state.ts'
import type { CallOptions } from '../types.ts'
import { openDraft } from './message.ts'

export interface Call {
  readonly id: string
  readonly path: string
  readonly namespace: readonly string[]
  /** The index among the calls of its assistant message. */
  readonly index: number
}

export interface CallRequest<T> {
  readonly kind: 'tool' | 'subagent'
  readonly name: string
  readonly args: Fields
  readonly options: CallOptions | undefined
  run(call: Call): Promise<T>
}

/** Publishes a call, runs it, and adds its answer to the state. Rejects with the error that `run` throws. */
export async function runCall<T>(scope: Scope, request: CallRequest<T>): Promise<T> {
  const { attempt, state } = scope
  const { kind, name, options } = request
  const path = nextPath(scope)
  const id = options?.toolCallId ?? callIdOf(scope, path)
  const args = frozenCopy(request.args) as Fields
  const identity: CallIdentity = { path, kind, name, given: digestOf([args, id]) }
  const replayed = replayedCall(scope, identity)
  state.log.begin()
  const index =
    options?.toolCallId === undefined ? await announce(scope, path, { id, name, args }) : flushCall(scope, id)
  if (replayed) return replayCall(scope, replayed)
  const task = idOf(scope, path)
  const namespace = [...scope.namespace, `tools:${task}`]
  const answerId = idOf(scope, `${path}/answer`)
  const call: Call = { id, path, namespace, index }
  const send = <M extends 'tools' | 'lifecycle'>(method: M, data: EventData[M]) =>
    attempt.queue.put(agentEvent(method, namespace, data))

  async function settle(outcome: Outcome, value: unknown) {
    const text = outcome.error?.message ?? textOfResult(value)
    const status = outcome.error ? 'error' : 'success'
    const content = [{ type: 'text', text }] as const
    const wire = encodeMessage({ role: 'tool', id: answerId, name, toolCallId: id, status, content })
    attempt.started.delete(namespace)
    send('tools', {
      tool_call_id: id,
      ...(status === 'error'
        ? { event: 'tool-error', message: text }
        : { event: 'tool-finished', output: wire }),
    })
    const change = () => state.change({ messages: [wire] }, insertAnswer(state.current(), wire))
    state.complete({ ...identity, ...outcome }, change, value)
    const completed = { event: 'completed', graph_name: 'tools' } as const
    const written = state.commit({
      between: [agentEvent('lifecycle', namespace, completed)],
      // In a finished thread, clients find the state of a subagent through the task that answered its call.
      ...(kind === 'subagent' && {
        before: () => state.chain.putWrites(task, answerWrites(index, wire)),
      }),
    })
    await state.log.turnOfLast(written)
  }

  attempt.started.add(namespace)
  const cause = { type: 'toolCall', tool_call_id: id } as const
  send('lifecycle', { event: 'started', graph_name: 'tools', cause })
  send('tools', { event: 'tool-started', tool_call_id: id, tool_name: name, input: JSON.stringify(args) })
  return settled(scope, () => request.run(call), settle)
}

type Outcome = Pick<CompletedCall, 'result' | 'error'>

/**
 * Runs a call, and settles it with its outcome and its result or error. A call that waits for an answer ends
 * without a turn.
 */
export async function settled<T>(
  { state }: Scope,
  run: () => T | Promise<T>,
  settle: (outcome: Outcome, value: unknown) => Promise<void>,
): Promise<T> {
  let result: T
  try {
    result = await run()
    checkReturned('The function of a tool, subagent or step', result)
  } catch (error) {
    if (isSuspended(error)) state.log.abandon()
    else await settle({ error: errorOf(error) }, error)
    throw error
  }
  await settle(result === undefined ? {} : { result: frozenCopy(result) }, result)
  return result
}

const GENERATORS: ReadonlySet<string> = new Set(['[object Generator]', '[object AsyncGenerator]'])

/** Throws if a function returned a generator, whose body would never run. */
function checkReturned(what: string, returned: unknown): void {
  if (GENERATORS.has(Object.prototype.toString.call(returned)))
    throw new AgentInputError(
      `${what} returned a generator. Nothing reads what it yields: use an async function, and message(text) or output(text) of its context.`,
    )
}

/** Returns the call's result in an earlier attempt, in its turn. */
export async function replayCall<T>({ state }: Scope, call: CompletedCall): Promise<T> {
  await state.log.turnOf(call.path)
  if (call.error) throw state.log.revive(call)
  return call.result as T
}

/** Adds the call to the assistant message of this turn. Returns its index once the message is published. */
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
    const draft = openDraft(scope, 'message', `${path}/calls`)
    draft.push({ type: 'messageStart', role: 'assistant', id: draft.id })
    for (const [index, call] of calls.entries()) {
      const block = { type: 'toolCall', ...call } as const
      draft.push({ type: 'blockStart', index, block })
      draft.push({ type: 'blockFinish', index, block })
    }
    draft.push({ type: 'messageFinish', reason: 'toolCalls' })
    draft.end()
    if (scope.state.dirty) await scope.state.commit()
  })
  return { calls, announced }
}

/** Publishes the assistant message with the call if necessary. Returns the index of the call in it. */
function flushCall({ state }: Scope, callId: string): number {
  state.flush()
  for (const { tool_calls: calls } of [...messagesOf(state.current())].reverse()) {
    const index = itemsOf(calls).findIndex((call) => (call as { id?: unknown }).id === callId)
    if (index >= 0) return index
  }
  return 0
}

function textOfResult(result: unknown): string {
  if (typeof result === 'string') return result
  return result === undefined ? '' : JSON.stringify(toJson(result))
}

export function lastText(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'assistant')
  return last ? textOf(last) : ''
}
