import type { Agent } from '../agents/agent.ts'
import type { Checkpointer } from '../storage/checkpointer/checkpointer.ts'
import type { Store } from '../storage/store/store.ts'
import { RunError } from './errors.ts'
import type { LogWatchers } from './log/watchers.ts'
import type { ServerEvent } from './observe.ts'
import type { CancelAction, RunRecord, ThreadRecord } from './records/records.ts'

/** What every part of the engine shares. One per engine. */
export interface RunContext {
  readonly store: Store
  readonly checkpointer: Checkpointer
  readonly agents: ReadonlyMap<string, Agent>
  /** The assistant of a thread that names none; undefined when there are several and none was chosen. */
  readonly defaultAgent: string | undefined
  /** This process, in the leases it holds. */
  readonly instance: string
  readonly leaseTtlMs: number
  /** How long a run tries again while the store is away. */
  readonly retryForMs: number
  /** How long a cancelled agent may take to stop before it is left behind. */
  readonly cancelGraceMs: number
  readonly watchers: LogWatchers
  /** How often what has expired is dropped. */
  readonly sweepMs: number
  /** How long runs may go on when the server closes. */
  readonly drainMs: number
  /** Runs that execute in this process, by thread. */
  readonly active: Map<string, ActiveRun>
  readonly report: ErrorReporter
  /** Tells those who operate the server. Never throws. */
  readonly observe: (event: ServerEvent) => void
  /** Fires when the server closes. */
  readonly closing: AbortController
}

/** Told of failures that no caller can be told of. Must not throw. */
export type ErrorReporter = (
  error: unknown,
  info: { readonly threadId?: string; readonly runId?: string },
) => void

/** A run that has the thread's lease, for whoever executes it. */
export interface LaunchedRun {
  readonly thread: ThreadRecord
  readonly run: RunRecord
  /** The fencing token of the lease. */
  readonly token: number
  /** The last sequence number of the thread's log. */
  readonly head: number
}

export interface ActiveRun {
  readonly runId: string
  readonly assistantId: string
  readonly token: number
  /** Asks the agent to stop. Idempotent. */
  stop(reason: StopReason): void
  /** Settles after the terminal event. Never rejects. */
  readonly done: Promise<void>
}

/** Beside cancels: the server closes, it closes and another one may go on, or another one already has the thread. */
export type StopReason = CancelAction | 'close' | 'hand over' | 'fenced'

export function agentOf(context: RunContext, assistantId: string): Agent {
  const agent = context.agents.get(assistantId)
  if (agent) return agent
  const known = [...context.agents.keys()].map((name) => JSON.stringify(name)).join(', ')
  throw new RunError(
    'invalid_argument',
    `Unknown assistant ${JSON.stringify(assistantId)}. This server has: ${known}.`,
  )
}

/** The assistant that reads the state of a thread: its own, else the default, else the first. */
export const readerOf = ({ agents, defaultAgent }: RunContext, assistantId: string | null): string =>
  assistantId ?? defaultAgent ?? [...agents.keys()][0]!

export const checkpointerOf = (context: RunContext, agent: Agent): Checkpointer =>
  agent.checkpointer ?? context.checkpointer
