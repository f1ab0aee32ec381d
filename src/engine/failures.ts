import type { SnapshotTask, StateSnapshot } from '../agents/agent.ts'
import {
  AgentInputError,
  AgentRefusal,
  AgentRejection,
  causesOf,
  messageForClients,
  rejectionOf,
} from '../agents/errors.ts'
import { AgentwireError } from '../core/errors.ts'
import type { AgentEvent, EventData } from '../messages/thread-events/index.ts'
import { ConflictError, FencedError, UnavailableError, UnsavableError } from '../storage/errors.ts'

/** How the storage has failed during an attempt. */
export interface StorageHealth {
  failed: boolean
  /** It could not be reached, and what the agent wrote or wanted to read is missing. */
  unavailable: boolean
}

export function noteFailure(health: StorageHealth, error: unknown): void {
  health.failed = true
  health.unavailable ||= error instanceof UnavailableError
}

/** The location of an error, as far as it is known. */
export interface RunOrigin {
  readonly threadId?: string | undefined
  readonly runId?: string | undefined
}

/** How failures are reported. */
export interface FailureContext {
  /** Passes an error to the operator's `onError`, and returns its error id. Never throws. */
  readonly report: (error: unknown, origin: RunOrigin) => string
  /** The message that clients see for an agent's error. Without it they see an error id. */
  readonly errorMessage: ((error: unknown) => string) | undefined
}

/**
 * What clients see of an agent's error: its text (true), an error id (false), or the result of a function.
 */
export type ErrorMessage = boolean | ((error: unknown) => string)

/** True if `NODE_ENV` is `development`. Always false on runtimes without a `process`, such as Workers. */
const inDevelopment = (): boolean => globalThis.process?.env?.NODE_ENV === 'development'

let said = false

/** The function for an option. Undefined if clients see an error id. */
export function errorMessageOf(chosen: ErrorMessage | undefined): ((error: unknown) => string) | undefined {
  if (typeof chosen === 'function') return chosen
  if (chosen === undefined && inDevelopment() && !said) {
    said = true
    console.info(
      'agentwire: clients see the text of agents’ errors, because NODE_ENV is “development”. Set `errorMessage: false` to hide it.',
    )
  }
  return (chosen ?? inDevelopment()) ? textOf : undefined
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The maximum length of an error text that clients see, in characters. */
const MAX_TEXT = 2_000

const HIDDEN = 'It failed. This server does not show the reason.'

/** What clients see of a failed run. */
export interface ShownFailure {
  readonly message: string
  /** The name of the error's class if clients see its text, otherwise `Error`. */
  readonly name: string
}

/**
 * Reports the failure of a run to the operator, unless the agent declined its task. Returns what clients see
 * of it.
 */
export function reportFailure(
  context: FailureContext,
  origin: RunOrigin,
  error: unknown,
  ofStorage: boolean,
): ShownFailure {
  const rejection = rejectionOf(error)
  if (rejection && !ofStorage) return { message: rejection.message.slice(0, MAX_TEXT), name: rejection.name }
  const id = context.report(error, origin)
  const isForClients =
    error instanceof UnsavableError || (error instanceof AgentwireError && error.code === 'limit_exceeded')
  const shown = isForClients
    ? error.message
    : ofStorage
      ? undefined
      : (shownText(context, error) ?? messageForClients(error)?.slice(0, MAX_TEXT))
  if (shown === undefined) return { message: `The run failed. Error id: ${id}.`, name: 'Error' }
  return { message: shown, name: nameOf(error) }
}

/** The name of an error, otherwise that of its class. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Error'
  const name: unknown = error.name === 'Error' ? error.constructor?.name : error.name
  return typeof name === 'string' && name !== '' ? name.slice(0, MAX_TEXT) : 'Error'
}

/**
 * An agent's event as clients may see it. The text of an error is replaced by the result of the
 * `errorMessage` option. If the storage failed, it is always replaced, because an agent may pass on the
 * storage's errors as its own.
 */
export function withoutErrorText(context: FailureContext, event: AgentEvent, ofStorage: boolean): AgentEvent {
  const shown = (error: unknown): string => (ofStorage ? HIDDEN : hide(context, error))
  switch (event.method) {
    case 'tasks':
    case 'lifecycle':
      // Events of agents are not validated: their data may be null.
      if (event.data?.error == null) return event
      return { ...event, data: { ...event.data, error: shown(event.data.error) } } as AgentEvent
    case 'messages':
      if (event.data?.event !== 'error' || event.data.message == null) return event
      return { ...event, data: { ...event.data, message: shown(event.data.message) } }
    case 'tools':
      if (event.data?.event !== 'tool-error' || event.data.message == null) return event
      return { ...event, data: { ...event.data, message: shown(event.data.message) } }
    case 'chunks':
      return { ...event, data: withoutChunkErrors(event.data, shown) }
    default:
      return event
  }
}

interface Chunk {
  readonly mode: string
  // biome-ignore lint/suspicious/noExplicitAny: a chunk has the shape that LangGraph gives it
  readonly data: any
}

/** A chunk of LangGraph's stream, which may contain errors of tools, runnables and checkpoint tasks. */
function withoutChunkErrors(
  chunk: EventData['chunks'],
  shown: (error: unknown) => string,
): EventData['chunks'] {
  const { mode, data }: Chunk = chunk
  const without = <T extends { readonly error?: unknown }>(owner: T): T =>
    owner?.error == null ? owner : { ...owner, error: shown(owner.error) }
  if (mode === 'tools') return { mode, data: without(data) }
  if (mode === 'events') return { mode, data: { ...data, data: without(data.data) } }
  const { tasks } = data?.payload ?? {}
  if (mode !== 'debug' || !tasks) return chunk
  return { mode, data: { ...data, payload: { ...data.payload, tasks: tasks.map(without) } } }
}

/**
 * The error that clients see for a failed write to an agent's state, without the text of the agent's own
 * code.
 */
export function withoutRefusalText(context: FailureContext, origin: RunOrigin, error: unknown): unknown {
  if (!(error instanceof AgentRefusal)) return error
  const { cause } = error
  const id = context.report(cause, origin)
  const shown = shownText(context, cause)
  return new AgentInputError(shown ?? `The agent rejected these values. Error id: ${id}.`, { cause })
}

/**
 * A state as clients may see it.
 *
 * @param shown The text that clients see for the thread's last failure, such as the reason of an agent that
 * declined.
 */
export function withoutErrorTexts(
  context: FailureContext,
  snapshot: StateSnapshot,
  shown: string | null,
): StateSnapshot {
  if (!snapshot.tasks.some(({ error, state }) => error !== null || state)) return snapshot
  const taskOf = (task: SnapshotTask): SnapshotTask => ({
    ...task,
    error: task.error === shown || task.error === null ? task.error : hide(context, task.error),
    state: task.state && withoutErrorTexts(context, task.state, shown),
  })
  return { ...snapshot, tasks: snapshot.tasks.map(taskOf) }
}

function hide(context: FailureContext, error: unknown): string {
  const { name, message } = Object(error) as { readonly name?: unknown; readonly message?: unknown }
  if (name === AgentRejection.brand) return String(message).slice(0, MAX_TEXT)
  return shownText(context, message ?? error) ?? HIDDEN
}

/** The part of an agent's error that the operator allows clients to see. Undefined if there is none. */
function shownText({ errorMessage, report }: FailureContext, error: unknown): string | undefined {
  if (!errorMessage || isOfStorage(error)) return undefined
  try {
    const text: unknown = errorMessage(error)
    return typeof text === 'string' && text !== '' ? text.slice(0, MAX_TEXT) : undefined
  } catch (failure) {
    report(failure, {})
    return undefined
  }
}

/** Whether an error or one of its causes comes from a store or checkpointer of this library. */
const isOfStorage = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) =>
      cause instanceof UnavailableError || cause instanceof ConflictError || cause instanceof FencedError,
  )

/** Replaces the error that a failed task writes to its checkpoint, because it may come from the storage. */
export const withoutErrorWrites = (writes: [channel: string, value: unknown][]): typeof writes =>
  writes.map(([channel, value]) => [channel, channel === '__error__' ? HIDDEN : value])
