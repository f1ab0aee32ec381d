import type { AgentEvent } from '../agent.ts'
import { toJson } from '../to-json.ts'
import type { EngineEvent, GraphInterrupt } from './graph.ts'
import { messageEvent } from './message-event.ts'

export interface Translator {
  /** The protocol events that one event of the engine becomes, in order. */
  translate(event: EngineEvent): readonly AgentEvent[]
  /** What is still held back when the engine has ended. */
  rest(): readonly AgentEvent[]
}

type Data = Readonly<Record<string, unknown>>

const NOTHING: readonly AgentEvent[] = []
const INTERRUPT = '__interrupt__'
const CUSTOM_CHANNEL = 'custom:'

/** Rewrites the events of one run from LangGraph's engine to those of the Agent Streaming Protocol. */
export function createTranslator(): Translator {
  const asked = new Set<string>()
  const paused = new Set<string>()
  let held: AgentEvent | undefined

  /** Announces interrupts where they are seen first: the engine repeats them in every namespace around. */
  function request(namespace: readonly string[], interrupts: unknown): readonly AgentEvent[] {
    if (!Array.isArray(interrupts)) return NOTHING
    return (interrupts as readonly GraphInterrupt[])
      .map(({ id = '', value }) => ({ id, value: toJson(value) }))
      .filter(({ id }) => !asked.has(id) && asked.add(id))
      .map(({ id, value }) => ({
        method: 'input.requested',
        namespace,
        data: { interrupt_id: id, payload: value, value },
      }))
  }

  /** A namespace that waits at an interrupt has not completed, whatever the engine says. */
  function lifecycle(namespace: readonly string[], data: Data): readonly AgentEvent[] {
    if (namespace.length === 0) return NOTHING
    const waits = data.event === 'completed' && paused.has(namespace.join('|'))
    return [
      { method: 'lifecycle', namespace, data: toJson(waits ? { ...data, event: 'interrupted' } : data) },
    ]
  }

  function tasks(namespace: readonly string[], data: Data): readonly AgentEvent[] {
    if ('result' in data && Array.isArray(data.interrupts) && data.interrupts.length > 0) {
      paused.add([...namespace, `${data.name}:${data.id}`].join('|'))
    }
    return [{ method: 'tasks', namespace, data: toJson(data) }]
  }

  function rewrite({ method, params }: EngineEvent): readonly AgentEvent[] {
    const { namespace, node } = params
    const data = params.data as Data
    switch (method) {
      case 'messages':
        return messageEvent(namespace, node, data)
      case 'values':
        return isRecord(data) && INTERRUPT in data
          ? request(namespace, data[INTERRUPT])
          : [{ method, namespace, data: toJson(data) }]
      case 'updates':
        return node === INTERRUPT
          ? request(namespace, data.values)
          : [{ method, namespace, node, data: toJson(data) }]
      case 'lifecycle':
        return lifecycle(namespace, data)
      case 'tasks':
        return tasks(namespace, data)
      case 'tools':
        return isPause(data) ? NOTHING : [{ method, namespace, data: toJson(data) }]
      case 'checkpoints':
      case 'custom':
        return [{ method, namespace, data: toJson(data) }]
      default:
        if (!method.startsWith(CUSTOM_CHANNEL)) return NOTHING
        return [
          {
            method: 'custom',
            namespace,
            data: { name: method.slice(CUSTOM_CHANNEL.length), payload: toJson(data) },
          },
        ]
    }
  }

  /** Keeps `checkpoints` and its `values` together (clients pair them by position): only `custom` can come between. */
  function pair(events: readonly AgentEvent[]): readonly AgentEvent[] {
    const event = events[0]
    if (event?.method === 'checkpoints') {
      const before = held
      held = event
      return before ? [before] : NOTHING
    }
    if (!held || !event || event.method === 'custom') return events
    const before = held
    held = undefined
    return [before, ...events]
  }

  return {
    translate: (event) => pair(rewrite(event)),
    rest: () => (held ? [held] : NOTHING),
  }
}

/** A tool that asks throws its interrupts, as a list in the error's message. It has not failed: it runs again on resume. */
function isPause({ event, message }: Data): boolean {
  if (event !== 'tool-error' || typeof message !== 'string' || !message.startsWith('[')) return false
  try {
    const thrown: unknown = JSON.parse(message)
    return (
      Array.isArray(thrown) &&
      thrown.length > 0 &&
      thrown.every((entry) => isRecord(entry) && isInterruptId(entry.id) && 'value' in entry)
    )
  } catch {
    return false
  }
}

/** The engine's ids of interrupts are XXH3 hashes. */
export const isInterruptId = (id: unknown): boolean => typeof id === 'string' && /^[0-9a-f]{32}$/.test(id)

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
