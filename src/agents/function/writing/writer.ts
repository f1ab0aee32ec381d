import { type ContentBlock, encodeMessage, type Message } from '../../../messages/index.ts'
import { defined, type Fields } from '../../../messages/record.ts'
import { textOfThrown } from '../../errors.ts'
import { toJson } from '../../to-json.ts'
import { handled } from '../event-queue.ts'
import { insideStep } from '../journal/call-log.ts'
import { derivedId, digestOf } from '../journal/journal.ts'
import {
  createScope,
  idOf,
  idsAt,
  nextPath,
  normalMessages,
  rejectSuspended,
  replayedCall,
  type Scope,
  Suspended,
} from '../scope.ts'
import { frozenCopy, messagesOf } from '../state.ts'
import type {
  ArtifactOptions,
  CallOptions,
  MessageOptions,
  StepContext,
  SubagentResult,
  ToolContext,
  Writer,
} from '../types.ts'
import { openArtifact, writeArtifact } from './artifact.ts'
import { type Call, lastText, replayCall, runCall, settled } from './calls.ts'
import { openMessage } from './message.ts'
import { streamModel } from './model.ts'

export function createWriter(scope: Scope): Writer {
  const { attempt, state } = scope

  return {
    ...attempt.details,
    get state() {
      return state.seen()
    },
    get messages() {
      return normalMessages(messagesOf(state.seen()))
    },
    signal: attempt.signal,
    message: ((first?: MessageStart, options?: MessageOptions) =>
      message(scope, first, options)) as Writer['message'],
    artifact: ((first?: ArtifactStart, options?: ArtifactOptions) =>
      artifact(scope, first, options)) as Writer['artifact'],
    model: (stream, format, options) => startCall(scope, () => streamModel(scope, stream, format, options)),
    tool<T>(
      name: string,
      input: Fields,
      run: (context: ToolContext) => T | Promise<T>,
      options?: CallOptions,
    ) {
      return startCall(scope, () =>
        runCall<T>(scope, {
          kind: 'tool',
          name,
          args: input,
          options,
          run: async (call) => run(toolContext(scope, call)),
        }),
      )
    },
    subagent<T>(
      name: string,
      description: string,
      run: (context: Writer) => T | Promise<T>,
      options?: CallOptions,
    ) {
      return startCall(scope, () =>
        runCall(scope, {
          kind: 'subagent',
          name: 'task',
          args: { description, subagent_type: name },
          options,
          run: (call) => runSubagent(scope, call, description, run),
        }),
      ) as Promise<SubagentResult<T>>
    },
    step: <T>(run: (context: StepContext) => T | Promise<T>) => startCall(scope, () => runStep(scope, run)),
    custom: customOf(scope),
    interrupt: interruptOf(scope),
    setState: (change) => rejectSuspended(scope) ?? setState(scope, change),
  }
}

type MessageStart = string | MessageOptions
type ArtifactStart = string | ContentBlock | readonly ContentBlock[] | ArtifactOptions

function message(scope: Scope, first: MessageStart = {}, options: MessageOptions = {}) {
  if (typeof first !== 'string') return openMessage(scope, first)
  return rejectSuspended(scope) ?? handled(writeMessage(scope, first, options))
}

function artifact(scope: Scope, first: ArtifactStart = {}, options: ArtifactOptions = {}) {
  if (typeof first !== 'string' && !Array.isArray(first) && !('type' in first))
    return openArtifact(scope, first as ArtifactOptions)
  return rejectSuspended(scope) ?? handled(writeArtifact(scope, first as ContentBlock, options))
}

function setState(scope: Scope, change: unknown): Promise<void> {
  const { state } = scope
  const call = { path: nextPath(scope), kind: 'setState' } as const
  const replayed = replayedCall(scope, call)
  state.log.begin()
  if (replayed) {
    state.log.advance(call.path)
    return state.log.turnOf(call.path)
  }
  state.complete(call, () => state.update(change, idsAt(scope, call.path)))
  return handled(state.log.turnOfLast(state.commit()))
}

/**
 * Starts a call that the attempt waits for. Awaiting it is optional, because its error is also in the state.
 */
function startCall<T>(scope: Scope, start: () => Promise<T>): Promise<T> {
  const refused = rejectSuspended(scope)
  if (refused) return refused
  const { running, queue } = scope.attempt
  const call = start()
  running.add(call)
  const settled = () => running.delete(call)
  call.then(settled, settled)
  return queue.race(call)
}

async function writeMessage(scope: Scope, text: string, options: MessageOptions): Promise<Message> {
  const writer = openMessage(scope, options)
  void writer.text(text)
  return writer.end()
}

async function runSubagent<T>(
  scope: Scope,
  call: Call,
  description: string,
  run: (context: Writer) => T | Promise<T>,
): Promise<T | string> {
  const { namespace, path } = call
  const state = await scope.attempt.openState(namespace)
  const inner = createScope(scope.attempt, state, { path, callIndex: scope.callIndex ?? call.index })
  const id = idOf(scope, `${path}/task`)
  const task = encodeMessage({ role: 'user', id, content: [{ type: 'text', text: description }] })
  const first = { path: `${path}/task`, kind: 'setState' } as const
  if (replayedCall(inner, first)) state.log.advance(first.path)
  else {
    state.complete(first, () => state.update({ messages: [task] }, () => id))
    void state.commit({ source: 'input' })
  }
  try {
    const result = await run(createWriter(inner))
    for (const open of inner.openWrites) open.end()
    return result === undefined ? lastText(normalMessages(messagesOf(state.current()))) : result
  } catch (error) {
    for (const open of inner.openWrites) open.fail(textOfThrown(error))
    throw error
  } finally {
    state.flush()
  }
}

async function runStep<T>(scope: Scope, run: (context: StepContext) => T | Promise<T>): Promise<T> {
  const { attempt, state, namespace, callIndex } = scope
  const path = nextPath(scope)
  const call = { path, kind: 'step' } as const
  const replayed = replayedCall(scope, call)
  state.log.begin()
  if (replayed) return replayCall(scope, replayed)
  const place = { path: insideStep(path), namespace, ...defined({ callIndex }) }
  // Messages of one namespace need different nodes, so the step shares the list of open messages.
  const inner = { ...createScope(attempt, state, place), openWrites: scope.openWrites }

  const context = Object.assign(createWriter(inner), { id: derivedId(attempt.runId, path) })
  return settled(
    scope,
    () => run(context),
    async (outcome, value) => {
      state.complete({ ...call, ...outcome }, () => {}, value)
      await state.log.turnOfLast(state.commit())
    },
  )
}

function toolContext(scope: Scope, { id, path, namespace, index }: Call): ToolContext {
  const { attempt, state, callIndex = index } = scope
  const inner = createScope(attempt, state, { path, namespace, callIndex })
  return {
    ...attempt.details,
    toolCallId: id,
    signal: attempt.signal,
    custom: customOf(inner),
    interrupt: interruptOf(inner),
    output(delta) {
      const text = typeof delta === 'string' ? delta : JSON.stringify(toJson(delta))
      const data = { event: 'tool-output-delta', tool_call_id: id, delta: text } as const
      attempt.queue.put({ method: 'tools', namespace, data })
      return attempt.queue.ready()
    },
  }
}

function customOf(scope: Scope): Writer['custom'] {
  const { attempt, state, path } = scope
  return (...args: [payload: unknown] | [name: string, payload: unknown]) => {
    const refused = rejectSuspended(scope)
    if (refused) return refused
    const data = args.length === 2 ? { name: args[0], payload: args[1] } : { payload: args[0] }
    if (attempt.journal.isNewCustom(path))
      attempt.queue.put(state.event('custom', frozenCopy(data) as typeof data))
    return attempt.queue.ready()
  }
}

function interruptOf(scope: Scope): Writer['interrupt'] {
  const { attempt, namespace, callIndex } = scope
  return <Answer>(payload: unknown): Promise<Answer> => {
    const refused = attempt.divergence && rejectSuspended(scope)
    if (refused) return refused
    const path = nextPath(scope)
    const value = frozenCopy(payload)
    const given = digestOf(value)
    try {
      replayedCall(scope, { path, kind: 'interrupt', given })
    } catch (error) {
      return handled(Promise.reject(error))
    }
    const answer = attempt.interrupts.answered(path)
    if (answer) {
      attempt.root.log.advance(path)
      return Promise.resolve(answer.value as Answer)
    }
    attempt.interrupts.raise({ path, value, given, namespace, ...defined({ callIndex }) })
    // The scope is suspended before any handler sees the rejection, but after the calls of the same turn,
    // because tools may be called in parallel with an interrupt.
    queueMicrotask(() => (scope.suspended = true))
    return handled(Promise.reject(new Suspended()))
  }
}
