import type { ModelCall } from '../agents/agent.ts'

/** The fields of every run event. */
export interface AboutRun {
  readonly threadId: string
  readonly runId: string
  readonly assistantId: string
  /**
   * The thread's owner: `[tenant]` or `[id]`, followed by its name. Null on a server without authentication.
   */
  readonly owner: string | null
  /** Milliseconds since 1970. */
  readonly at: number
  /** The W3C `traceparent` of the request that started the run. */
  readonly traceparent: string | null
}

/** Why a run ended. */
export type RunEndReason =
  | 'completed'
  | 'failed'
  /** A client or server code cancelled the run; `rolled_back` if its changes were undone. */
  | 'cancelled'
  | 'rolled_back'
  /** It was waiting, and a later run with the strategy `interrupt` or `rollback` replaced it. */
  | 'superseded'
  /** It was waiting with an answer, and its interrupt was no longer open. */
  | 'withdrawn'
  /** The server closed, and no other process can continue the run. */
  | 'closed'
  /** The process that executed it was lost, and the run cannot be continued. */
  | 'lost'
  /** It was waiting on a thread that was deleted. */
  | 'deleted'

/** The tokens of the run's model calls, as counted by the providers. */
export interface RunUsage {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The fields of events that end or interrupt a run. */
export interface RunEnding {
  readonly status: 'success' | 'error' | 'interrupted'
  /** The time since the start of the first attempt, in milliseconds. Null for a run that never started. */
  readonly durationMs: number | null
  /** The usage of this process's attempt. Null if no model reported any. */
  readonly usage: RunUsage | null
}

/**
 * The events of runs. Each run that was queued or started ends with exactly one `run.interrupted` or
 * `run.ended`.
 */
export type RunEvent =
  /** The run waits behind others. `position` 1 is next. */
  | (AboutRun & { readonly type: 'run.queued'; readonly position: number })
  | (AboutRun & { readonly type: 'run.started'; readonly waitedMs: number })
  /** The process that executed it was lost, and this one continues it. `attempt` 2 is the first take-over. */
  | (AboutRun & { readonly type: 'run.taken_over'; readonly attempt: number })
  /** This process is closing and lets another one continue the run. */
  | (AboutRun & { readonly type: 'run.handed_over' })
  /**
   * This process lost the thread's lease, and writes nothing more: another process continues the run or has
   * ended it.
   */
  | (AboutRun & { readonly type: 'run.fenced' })
  /** A model call, made with `model()` of an agent function. */
  | (AboutRun & { readonly type: 'run.model_called'; readonly call: ModelCall })
  /** The run waits for answers to its interrupts. */
  | (AboutRun & RunEnding & { readonly type: 'run.interrupted'; readonly interruptIds: readonly string[] })
  | (AboutRun &
      RunEnding & {
        readonly type: 'run.ended'
        readonly reason: RunEndReason
        /**
         * The error that a failed run's agent threw, if this process executed it. For logs, never for
         * clients.
         */
        readonly error?: unknown
      })

/** The events that a server reports to its operators. */
export type ServerEvent =
  | RunEvent
  | {
      readonly type: 'thread.deleted'
      readonly threadId: string
      readonly owner: string | null
      readonly at: number
    }
  /** A cron was due, and started a run or failed to. Reported by the instance that recorded it. */
  | {
      readonly type: 'cron.due'
      readonly cronId: string
      readonly assistantId: string
      readonly owner: string | null
      /** Null if no run was started and the cron's runs have their own threads. */
      readonly threadId: string | null
      readonly runId: string | null
      /** When it was due, in milliseconds since 1970. */
      readonly dueAt: number
      /** How many later dates had also passed by then. They start no runs. */
      readonly missed: number
      /** Why no run was started. For logs, never for clients. */
      readonly error?: unknown
      readonly at: number
    }
  /** A webhook or push was not delivered, and is not retried. */
  | {
      readonly type: 'delivery.failed'
      /** The kind of delivery, such as `run-webhook-delivery` or `a2a-push`. */
      readonly kind: string
      readonly threadId: string
      /** The run that ended, or the first run of the task. */
      readonly runId: string | null
      /** The host of the receiver's URL. Null if no request was to be sent. */
      readonly host: string | null
      /** The number of attempts. */
      readonly failures: number
      /** The error. Its `cause` is the last failure. For logs, never for clients. */
      readonly error: unknown
      readonly at: number
    }
  /** The store does not respond. Reported once until it recovers. */
  | { readonly type: 'store.unavailable'; readonly error: unknown; readonly at: number }
  | { readonly type: 'store.recovered'; readonly awayMs: number; readonly at: number }
  /** A request was answered with an error, or a command was rejected. */
  | {
      readonly type: 'request.refused'
      readonly method: string
      /** The pattern of the route, such as `/threads/:thread_id/commands`. Undefined if no route matched. */
      readonly route: string | undefined
      readonly status: number
      /** The error code, such as `permission_denied`. */
      readonly code: string
      readonly at: number
    }

/**
 * Called with each event after it is recorded. Not awaited. Errors that it throws or rejects with are
 * reported and have no other effect.
 */
export type Observe = (event: ServerEvent) => unknown

/** Wraps `observe` so that a call never throws. */
export function createObserver(
  observe: Observe | undefined,
  report: (error: unknown) => void,
): (event: ServerEvent) => void {
  if (!observe) return () => {}
  return (event) => {
    try {
      const result = observe(event)
      if (result instanceof Promise) result.catch(report)
    } catch (error) {
      report(error)
    }
  }
}
