import { createAccumulator } from '../accumulator.ts'
import { createMessageDecoder, decodeMessage, type Message } from '../index.ts'
import { isRecord } from '../record.ts'
import type { EventData, LifecycleData, LogGap, ThreadEvent, ToolData } from './event-data.ts'
import { createCallScopes, createOpenMessages, isEnd } from './open-messages.ts'

/** A message of a thread, as far as it is written. */
export interface FoldedMessage {
  readonly message: Message
  /**
   * The call of the subagent that wrote the message. Null: the agent itself. If the call began before the
   * first event that was read, the segment of its namespace, such as `tools:<task id>`.
   */
  readonly toolCallId: string | null
  /** The run that wrote it. Undefined if the message is only known from a state. */
  readonly runId: string | undefined
  readonly isFinished: boolean
}

/** A tool call and its progress. */
export interface FoldedToolCall {
  readonly id: string
  readonly name: string
  /** The arguments, as JSON text. */
  readonly input: string
  /** The call of the subagent that made this call, or null. */
  readonly parentId: string | null
  readonly status: 'running' | 'finished' | 'failed'
  /** The output streamed so far. */
  readonly output: string
  /** The tool message, once the call is finished. */
  readonly result: Message | undefined
  readonly error: string | undefined
}

/** A question that a run asked. */
export interface FoldedInterrupt {
  readonly id: string
  readonly value: unknown
  /** The call that asked the question, or null. */
  readonly toolCallId: string | null
}

/** The result of a fold. */
export interface Folded {
  /** The last lifecycle event of the newest run. Undefined before its first event. */
  readonly status: LifecycleData['event'] | undefined
  /** In the order of the state, followed by messages that are not in a state yet. */
  readonly messages: readonly FoldedMessage[]
  readonly toolCalls: readonly FoldedToolCall[]
  /** The questions that the newest run asked. */
  readonly interrupts: readonly FoldedInterrupt[]
}

/** Folds events. `push` adds the next event of the log, `read` returns the result so far. */
export interface Fold {
  push(event: ThreadEvent | LogGap): void
  read(): Folded
}

type Namespace = readonly string[]

/** A message that is written by events. */
interface Written {
  readonly id: string | undefined
  readonly owner: string | null
  readonly runId: string
  readonly decoder: ReturnType<typeof createMessageDecoder>
  readonly content: ReturnType<typeof createAccumulator>
  isFinished: boolean
  /** Whether a state contained it. It is removed by the first state that does not. */
  wasInState: boolean
}

/**
 * Folds the events of a thread into its messages (including unfinished ones), tool calls and questions. Push
 * the events of all channels in the order of the log, from any position: a state contains what came before.
 */
export function createFold(): Fold {
  /** The newest messages of each state, by the call of its subagent. */
  const states = new Map<string | null, readonly unknown[]>()
  const calls = new Map<string, FoldedToolCall>()
  const scopes = createCallScopes()
  const { ownerOf } = scopes
  const open = createOpenMessages(({ namespace, runId }: ThreadEvent<'messages'>, id): Written => {
    const one: Written = {
      id,
      owner: ownerOf(namespace),
      runId,
      decoder: createMessageDecoder(),
      content: createAccumulator(),
      isFinished: false,
      wasInState: false,
    }
    // A message that is written again replaces the earlier one.
    const earlier = id === undefined ? undefined : newest.get(keyOfWritten(one))
    if (earlier) written.delete(earlier)
    written.add(one)
    if (id !== undefined) newest.set(keyOfWritten(one), one)
    return one
  })
  const interrupts = new Map<string, FoldedInterrupt>()
  const written = new Set<Written>()
  /** The same messages by owner and id. */
  const newest = new Map<string, Written>()
  let status: LifecycleData['event'] | undefined

  function addMessage(event: ThreadEvent<'messages'>): void {
    const one = open.of(event)
    if (!one) return
    for (const piece of one.decoder.push(event.data)) one.content.push(piece)
    if (!isEnd(event.data)) return
    one.isFinished = true
    if (event.superseded) forget(one)
  }

  function forget(one: Written): void {
    written.delete(one)
    if (newest.get(keyOfWritten(one)) === one) newest.delete(keyOfWritten(one))
  }

  function addState({ namespace, superseded, data }: ThreadEvent<'values'>): void {
    const owner = ownerOf(namespace)
    // The states of nested graphs are parts of that state.
    if (namespace.length > 0 && !scopes.isAt(namespace, owner) && namespace.at(-1) !== owner) return
    if (!isRecord(data) || !Array.isArray(data.messages)) return
    const messages: readonly unknown[] = data.messages
    const kept = messages.filter((one) => !isRemoval(one))
    const ids = new Set(kept.map(idOf))
    const gone = new Set(superseded ? messages.filter(isRemoval).map(idOf) : [])
    states.set(owner, kept)
    for (const one of written) {
      if (one.owner !== owner) continue
      if (gone.has(one.id) || (one.wasInState && !ids.has(one.id))) forget(one)
      else if (ids.has(one.id)) one.wasInState = true
    }
  }

  function addCall(namespace: Namespace, data: ToolData): void {
    const { tool_call_id: id } = data
    if (data.event === 'tool-started') {
      const parentId = ownerOf(namespace, namespace.length - 1)
      const { tool_name: name, input } = data
      scopes.begin(namespace, id)
      calls.set(id, {
        id,
        name,
        input,
        parentId,
        status: 'running',
        output: '',
        result: undefined,
        error: undefined,
      })
      return
    }
    const call = calls.get(id)
    if (!call) return
    if (data.event === 'tool-output-delta') calls.set(id, { ...call, output: call.output + data.delta })
    else if (data.event === 'tool-finished')
      calls.set(id, { ...call, status: 'finished', result: toolMessageOf(data.output, id) })
    else calls.set(id, { ...call, status: 'failed', error: data.message })
  }

  function ask(namespace: Namespace, { id, value }: { readonly id: string; readonly value: unknown }): void {
    if (!interrupts.has(id)) interrupts.set(id, { id, value, toolCallId: ownerOf(namespace) })
  }

  function addEnd(namespace: Namespace, { event }: EventData['lifecycle']): void {
    if (namespace.length > 0) return
    status = event
    if (event !== 'interrupted') interrupts.clear()
  }

  return {
    push(event) {
      if (event.type === 'gap') {
        // The next state contains what was written in the gap.
        for (const one of open.all()) forget(one)
        open.clear()
        return
      }
      switch (event.method) {
        case 'messages':
          return addMessage(event)
        case 'values':
          return addState(event)
        case 'tools':
          return addCall(event.namespace, event.data)
        case 'input.requested':
          return ask(event.namespace, { id: event.data.interrupt_id, value: event.data.payload })
        case 'tasks': {
          const { namespace, data } = event
          // A question that stays open is not asked again.
          for (const one of data.interrupts ?? []) ask([...namespace, `${data.name}:${data.id}`], one)
          return
        }
        case 'lifecycle':
          return addEnd(event.namespace, event.data)
      }
    },
    read() {
      const isOfState = new Set<Written>()
      const ofStates = [...states].flatMap(([owner, messages]) =>
        messages.flatMap((raw) => {
          const id = idOf(raw)
          const one = id === undefined ? undefined : newest.get(keyOfWritten({ owner, id }))
          if (one) isOfState.add(one)
          const message = one && !one.isFinished ? one.content.message() : decodeMessage(raw)
          return message
            ? [{ message, toolCallId: owner, runId: one?.runId, isFinished: one?.isFinished ?? true }]
            : []
        }),
      )
      const others = [...written]
        .filter((one) => !isOfState.has(one))
        .map((one) => ({
          message: one.content.message(),
          toolCallId: one.owner,
          runId: one.runId,
          isFinished: one.isFinished,
        }))
      return {
        status,
        messages: [...ofStates, ...others],
        toolCalls: [...calls.values()],
        interrupts: [...interrupts.values()],
      }
    },
  }
}

const isRemoval = (message: unknown): boolean => isRecord(message) && message.type === 'remove'

const keyOfWritten = ({ owner, id }: Pick<Written, 'id' | 'owner'>): string => `${owner ?? ''}\n${id}`

const idOf = (message: unknown): string | undefined =>
  isRecord(message) && typeof message.id === 'string' ? message.id : undefined

/** The tool message in a tool's output, which may be in the update of a `Command`. */
export function toolMessageOf(output: unknown, toolCallId: string): Message | undefined {
  const update = isRecord(output) && isRecord(output.update) ? output.update.messages : undefined
  const all = Array.isArray(update) ? update : [output]
  return all.map(decodeMessage).find((message) => message?.toolCallId === toolCallId)
}
