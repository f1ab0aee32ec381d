import { encodeMessage, type Message } from '../../messages/index.ts'
import { toJson } from '../to-json.ts'
import { type Call, lastText, runCall, textOfResult } from './calls.ts'
import { handled, Suspended } from './interrupts.ts'
import { openMessage } from './message-writer.ts'
import { streamModel } from './model.ts'
import { createScope, idOf, idsAt, nextPath, normalMessages, refusal, type Scope } from './scope.ts'
import { messagesOf, own } from './state.ts'
import type {
  CallOptions,
  MessageOptions,
  MessageWriter,
  SubagentResult,
  ToolContext,
  Writer,
} from './types.ts'

/** The writer of a scope: the run itself, or a subagent. */
export function createWriter(scope: Scope): Writer {
  const { attempt, ledger } = scope

  function message(text: string, options?: MessageOptions): Promise<Message>
  function message(options?: MessageOptions): MessageWriter
  function message(first: string | MessageOptions = {}, options: MessageOptions = {}) {
    if (typeof first !== 'string') return openMessage(scope, first)
    return refusal(scope) ?? handled(writeMessage(scope, first, options))
  }

  return {
    get state() {
      return ledger.state()
    },
    get messages() {
      return normalMessages(messagesOf(ledger.state()))
    },
    signal: attempt.signal,
    message,
    model: (stream, format, options) => tracked(scope, () => streamModel(scope, stream, format, options)),
    tool<T>(
      name: string,
      input: Readonly<Record<string, unknown>>,
      run: (context: ToolContext) => T | Promise<T>,
      options?: CallOptions,
    ) {
      return tracked(scope, () =>
        runCall<T>(scope, {
          kind: 't',
          name,
          args: input,
          options,
          run: async (call) => run(toolContext(scope, call)),
          answer: textOfResult,
        }),
      )
    },
    subagent<T>(
      name: string,
      description: string,
      run: (context: Writer) => T | Promise<T>,
      options?: CallOptions,
    ) {
      return tracked(scope, () =>
        runCall(scope, {
          kind: 's',
          name: 'task',
          args: { description, subagent_type: name },
          options,
          run: (call) => runSubagent(scope, call, description, run),
          answer: textOfResult,
        }),
      ) as Promise<SubagentResult<T>>
    },
    custom: customOf(scope),
    interrupt: interruptOf(scope),
    setState(change) {
      const refused = refusal(scope)
      if (refused) return refused
      ledger.update(change, idsAt(scope, nextPath(scope, 'u')))
      return ledger.commit()
    },
  }
}

/** The attempt does not end before the call has settled. Nobody has to wait for it: its error is in the state. */
function tracked<T>(scope: Scope, start: () => Promise<T>): Promise<T> {
  const refused = refusal(scope)
  if (refused) return refused
  const { running } = scope.attempt
  const call = handled(start())
  running.add(call)
  const settled = () => running.delete(call)
  call.then(settled, settled)
  return call
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
  const ledger = await scope.attempt.openLedger(namespace)
  const inner = createScope(scope.attempt, ledger, { path, callIndex: scope.callIndex ?? call.index })
  const id = idOf(scope, `${path}/task`)
  const task = encodeMessage({ role: 'user', id, content: [{ type: 'text', text: description }] })
  if (!ledger.wasDelivered(id)) {
    ledger.update({ messages: [task] }, () => id)
    void ledger.commit({ source: 'input' })
  }
  try {
    const result = await run(createWriter(inner))
    for (const open of inner.openMessages) open.end()
    return result === undefined ? lastText(normalMessages(messagesOf(ledger.state()))) : result
  } catch (error) {
    for (const open of inner.openMessages) open.fail(error instanceof Error ? error.message : String(error))
    throw error
  } finally {
    ledger.flush()
  }
}

function toolContext(scope: Scope, { id, path, namespace, index, delivered }: Call): ToolContext {
  const { attempt, ledger, callIndex = index } = scope
  const inner = createScope(attempt, ledger, { path, namespace, callIndex })
  return {
    toolCallId: id,
    signal: attempt.signal,
    custom: customOf(inner),
    interrupt: interruptOf(inner),
    output(delta) {
      const text = typeof delta === 'string' ? delta : JSON.stringify(toJson(delta))
      const data = { event: 'tool-output-delta', tool_call_id: id, delta: text }
      if (!delivered) attempt.outbox.put({ method: 'tools', namespace, data })
      return attempt.outbox.ready()
    },
  }
}

function customOf(scope: Scope): Writer['custom'] {
  const { attempt, ledger, path } = scope
  return (...args: [payload: unknown] | [name: string, payload: unknown]) => {
    const refused = refusal(scope)
    if (refused) return refused
    const data = args.length === 2 ? { name: args[0], payload: args[1] } : { payload: args[0] }
    if (attempt.isNewCustom(path)) attempt.outbox.put(ledger.event('custom', own(data)))
    return attempt.outbox.ready()
  }
}

function interruptOf(scope: Scope): Writer['interrupt'] {
  const { attempt, namespace, callIndex } = scope
  return <Answer>(payload: unknown): Promise<Answer> => {
    const path = nextPath(scope, 'i')
    const question = { path, value: payload, namespace, ...(callIndex !== undefined && { callIndex }) }
    const answered = attempt.interrupts.ask(question)
    if (answered) return Promise.resolve(answered.answer as Answer)
    // Before anybody can learn of the rejection, but after what is called in the same turn: questions may stand beside tools.
    queueMicrotask(() => (scope.suspended = true))
    return handled(Promise.reject(new Suspended()))
  }
}
