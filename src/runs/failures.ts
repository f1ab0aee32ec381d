import type { SnapshotTask, StateSnapshot } from '../agents/agent.ts'
import {
  AgentInputError,
  AgentRefusal,
  AgentRejection,
  causesOf,
  messageForClients,
  rejectionOf,
} from '../agents/errors.ts'
import { AgentwireError } from '../errors.ts'
import type { AgentEvent, EventData } from '../events/index.ts'
import { ConflictError, FencedError, UnavailableError } from '../storage/errors.ts'

/** Where an error happened, as far as that is known. */
export interface RunOrigin {
  readonly threadId?: string | undefined
  readonly runId?: string | undefined
}

/** To whom failures are told. */
export interface FailureTold {
  /** Passes an error to the operator's `onError`, and gives the error id that it gets. Never throws. */
  readonly report: (error: unknown, origin: RunOrigin) => string
  /** What clients are told of an agent's error. Without it they are told an error id. */
  readonly errorMessage: ((error: unknown) => string) | undefined
}

/** What clients are told of an agent's error: its text, an error id, or what a function makes of it. */
export type ErrorMessage = boolean | ((error: unknown) => string)

/** True where `NODE_ENV` is `development`. Runtimes without a `process`, such as Workers, are never that. */
const inDevelopment = (): boolean => globalThis.process?.env?.NODE_ENV === 'development'

let said = false

/** The function that an option stands for. Undefined where clients are told an error id. */
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

/** The most characters of an error's text that clients get. */
const MAX_TEXT = 2_000

const HIDDEN = 'It failed. This server does not show the reason.'

/** What clients are told of the failure of a run. */
export interface ShownFailure {
  readonly message: string
  /** The name of the error's class, where they are told the text; else `Error`. */
  readonly name: string
}

/** Reports the failure of a run to the operator, unless the agent has declined its task. Gives what clients are told of it. */
export function reportFailure(
  context: FailureTold,
  origin: RunOrigin,
  error: unknown,
  ofStorage: boolean,
): ShownFailure {
  const rejection = rejectionOf(error)
  if (rejection && !ofStorage) return { message: rejection.message.slice(0, MAX_TEXT), name: rejection.name }
  const id = context.report(error, origin)
  const isOfLimit = error instanceof AgentwireError && error.code === 'limit_exceeded'
  const shown = isOfLimit
    ? error.message
    : ofStorage
      ? undefined
      : (shownText(context, error) ?? messageForClients(error)?.slice(0, MAX_TEXT))
  if (shown === undefined) return { message: `The run failed. Error id: ${id}.`, name: 'Error' }
  return { message: shown, name: nameOf(error) }
}

/** The name that an error was given, else that of its class. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Error'
  const name: unknown = error.name === 'Error' ? error.constructor?.name : error.name
  return typeof name === 'string' && name !== '' ? name.slice(0, MAX_TEXT) : 'Error'
}

/**
 * An agent's event as clients may see it. The text of an error is replaced by what the `errorMessage` option makes of it, and
 * always while the storage fails, whose errors an agent may pass on as its own.
 */
export function withoutErrorText(context: FailureTold, event: AgentEvent, ofStorage: boolean): AgentEvent {
  const shown = (error: unknown): string => (ofStorage ? HIDDEN : hide(context, error))
  switch (event.method) {
    case 'tasks':
    case 'lifecycle':
      // Agents are not checked: their data may be null.
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

/** A chunk of LangGraph's stream, in which tools, runnables and the tasks of a checkpoint may tell their errors. */
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

/** What clients are told of an error of a write to an agent's state: not the text of the agent's own code. */
export function withoutRefusalText(context: FailureTold, origin: RunOrigin, error: unknown): unknown {
  if (!(error instanceof AgentRefusal)) return error
  const { cause } = error
  const id = context.report(cause, origin)
  const shown = shownText(context, cause)
  return new AgentInputError(shown ?? `The agent rejected these values. Error id: ${id}.`, { cause })
}

/**
 * A state as clients may see it.
 *
 * @param shown The text that they are shown of the thread's last failure, such as the reason of an agent that has declined.
 */
export function withoutErrorTexts(
  context: FailureTold,
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

function hide(context: FailureTold, error: unknown): string {
  const { name, message } = Object(error) as { readonly name?: unknown; readonly message?: unknown }
  if (name === AgentRejection.brand) return String(message).slice(0, MAX_TEXT)
  return shownText(context, message ?? error) ?? HIDDEN
}

/** What the operator lets clients see of an agent's error. Undefined where that is nothing. */
function shownText({ errorMessage, report }: FailureTold, error: unknown): string | undefined {
  if (!errorMessage || isOfStorage(error)) return undefined
  try {
    const text: unknown = errorMessage(error)
    return typeof text === 'string' && text !== '' ? text.slice(0, MAX_TEXT) : undefined
  } catch (failure) {
    report(failure, {})
    return undefined
  }
}

/** Whether an error, or what caused it, comes from a store or a saver of this library. */
const isOfStorage = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) =>
      cause instanceof UnavailableError || cause instanceof ConflictError || cause instanceof FencedError,
  )

/** Replaces the error that a failed task writes into its checkpoint, where that may be the storage's own. */
export const withoutErrorWrites = (writes: [channel: string, value: unknown][]): typeof writes =>
  writes.map(([channel, value]) => [channel, channel === '__error__' ? HIDDEN : value])
