import type { Agent } from '../agents/agent.ts'
import { unknownAgent } from '../agents/unknown-agent.ts'
import type { Checkpointer, CheckpointTuple } from '../storage/checkpointer/checkpointer.ts'
import type { KeyedSemaphore } from '../storage/coordination/keyed-semaphore.ts'
import type { GraphStores } from '../storage/graph-store/index.ts'
import type { Store } from '../storage/store/store.ts'
import { RunError } from './errors.ts'
import type { FailureContext, RunOrigin } from './failures.ts'
import type { Limits } from './limits.ts'
import type { LogWatchers } from './log/watchers.ts'
import type { ServerEvent } from './observe.ts'
import type { HeldRecords, RunRecord, RunRecords, StopReason, ThreadRecord } from './records/records.ts'
import type { WakeUps } from './records/wake-ups.ts'

/** The state that all parts of the engine share. One for each engine. */
export interface RunContext extends FailureContext {
  readonly store: Store
  readonly checkpointer: Checkpointer
  /** See `WatchedStore`. */
  readonly wasAway: (ms: number) => boolean
  /** The store's clock, in milliseconds since 1970, for values that are not read with a partition. */
  readonly storeNow: (partition: string) => Promise<number>
  readonly graphStores: GraphStores
  readonly agents: ReadonlyMap<string, Agent>
  /** Old names of agents, mapped to the agents' ids. */
  readonly aliases: ReadonlyMap<string, string>
  /** The assistant of a thread that names none. Undefined if there are several and none is the default. */
  readonly defaultAgent: string | undefined
  /** The id of this process in its leases. */
  readonly instance: string
  readonly leaseTtlMs: number
  /** How long a run retries while the store is unavailable, in milliseconds. */
  readonly retryForMs: number
  /** How long the engine waits for a cancelled agent to stop, in milliseconds. */
  readonly cancelGraceMs: number
  readonly limits: Limits
  /**
   * The slots of this process for runs, by owner. Each is held from the claim of a thread to the end of the
   * run.
   */
  readonly slots: KeyedSemaphore<string | null>
  /** The threads whose next run waits for a slot, oldest first, with their owners. */
  readonly waitingForSlot: Map<string, string | null>
  readonly watchers: LogWatchers
  /** How often expired records are deleted, in milliseconds. */
  readonly sweepMs: number
  /** How long runs may continue when the server closes, in milliseconds. */
  readonly drainMs: number
  /** Runs that execute in this process, by thread. */
  readonly active: Map<string, ActiveRun>
  /** The execution of these runs and of the runs that wait after them, by thread. */
  readonly executing: Map<string, Promise<void>>
  /** Passes an event to the operator's observer. Never throws. */
  readonly observe: (event: ServerEvent) => void
  /** Takes over the run of a thread whose process is lost, or starts the waiting run. */
  readonly recover: (threadId: string) => Promise<void>
  /** Schedules another check of a thread when its delayed run is due. */
  readonly wakeUps: WakeUps
  /** What `close` waits for: claims that are being written, and threads that execute. */
  readonly pending: Set<Promise<unknown>>
  /** Fires when the server closes. */
  readonly closing: AbortController
}

/**
 * Called with failures that no caller would otherwise see. `id` is the error id that was sent to clients.
 * Errors that it throws or rejects with are ignored.
 */
export type ErrorReporter = (error: unknown, info: RunOrigin & { readonly id: string }) => unknown

/** The newest checkpoint of a thread's root, as read from a checkpointer. */
export interface NewestCheckpoint {
  readonly tuple: CheckpointTuple | undefined
}

/** A run that holds the thread's lease and a slot of this process, and is ready to execute. */
export interface LaunchedRun {
  readonly thread: ThreadRecord
  readonly run: RunRecord
  /** The fencing token of the lease. */
  readonly token: number
  /** The last sequence number of the thread's log. */
  readonly head: number
  /** When the commit that took the lease began, by `performance.now()`. */
  readonly claimedAt: number
  /** The known records of the run, initially those that the launching commit wrote. */
  readonly records: HeldRecords
  /** The store's clock, in milliseconds since 1970, advanced from its value at the launch. */
  readonly now: () => number
  /** The newest checkpoint of the thread, if the launch read it. */
  readonly newest?: NewestCheckpoint | undefined
}

export interface ActiveRun {
  readonly runId: string
  readonly assistantId: string
  readonly token: number
  /** Asks the agent to stop. Idempotent. */
  stop(reason: StopReason): void
  /**
   * Settles after the terminal event, with the records that it wrote if this process wrote them. Never
   * rejects.
   */
  readonly done: Promise<RunRecords | undefined>
}

/** The id of a name, which may be an alias. */
export const idOf = ({ aliases }: Pick<RunContext, 'aliases'>, name: string): string =>
  aliases.get(name) ?? name

export const findAgent = (context: RunContext, name: string): Agent | undefined =>
  context.agents.get(idOf(context, name))

export function agentOf(context: RunContext, name: string): Agent {
  const agent = findAgent(context, name)
  if (agent) return agent
  throw unknownAssistant(context, name)
}

function unknownAssistant({ agents }: RunContext, name: string): RunError {
  const known = [...agents.keys()].map((id) => JSON.stringify(id)).join(', ')
  return new RunError(
    'invalid_argument',
    `Unknown assistant ${JSON.stringify(name)}. This server has: ${known}.`,
  )
}

/**
 * The agent that reads the state of a thread: its own, otherwise the default, otherwise the first. The state
 * of a removed agent is read from its checkpoints.
 */
export function readerOf(context: RunContext, assistantId: string | null): Agent {
  const name = assistantId ?? context.defaultAgent ?? [...context.agents.keys()][0]!
  return findAgent(context, name) ?? unknownAgent(() => unknownAssistant(context, name))
}

export const checkpointerOf = (context: RunContext, agent: Agent): Checkpointer =>
  agent.checkpointer ?? context.checkpointer

/** The same checkpointer with the agent's serde, so that it can return instances of the agent's classes. */
export function ownCheckpointerOf(context: RunContext, agent: Agent): Checkpointer {
  const saver = checkpointerOf(context, agent)
  return (agent.serde && saver.withSerde?.(agent.serde)) ?? saver
}

/** Makes `close` wait for this work. */
export function beforeClose<T>({ pending }: RunContext, work: Promise<T>): Promise<T> {
  pending.add(work)
  const forget = (): void => void pending.delete(work)
  work.then(forget, forget)
  return work
}

/** Throws `closing` once the server is closing: nothing may start after that. */
export function assertOpen({ closing }: RunContext): void {
  if (closing.signal.aborted) throw new RunError('closing', 'The server is shutting down. Try again.')
}

/** How a run stops when the server closes: one that another process can continue is handed over. */
export const closeReason = (context: RunContext, assistantId: string): StopReason =>
  context.store.capabilities.shared && findAgent(context, assistantId)?.resumable ? 'hand over' : 'close'
