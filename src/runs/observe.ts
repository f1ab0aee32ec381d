import type { ModelCall } from '../agents/agent.ts'

/** The fields of every run event. */
export interface AboutRun {
  readonly threadId: string
  readonly runId: string
  readonly assistantId: string
  /** `[tenant]` or `[id]` with the name of it, of the thread's principal; null on a server without authentication. */
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
  /** A client or the server's own code cancelled it; `rolled_back` when what it wrote was undone. */
  | 'cancelled'
  | 'rolled_back'
  /** It waited, and a later run with the strategy `interrupt` or `rollback` took its place. */
  | 'superseded'
  /** It waited with an answer, and its interrupt was no longer open. */
  | 'withdrawn'
  /** The server closed, and no other process may continue the run. */
  | 'closed'
  /** The process that ran it was lost, and the run may not be continued. */
  | 'lost'
  /** It waited on a thread that was deleted. */
  | 'deleted'

/** Tokens of the run's model calls, as the providers counted them. */
export interface RunUsage {
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface RunEnding {
  readonly status: 'success' | 'error' | 'interrupted'
  /** From the start of the first attempt, in milliseconds. Null for a run that never started. */
  readonly durationMs: number | null
  /** Of this process's attempt. Null where no model reported any. */
  readonly usage: RunUsage | null
}

/** What happens to runs. Each run that was queued or started ends in exactly one `run.interrupted` or `run.ended`. */
export type RunEvent =
  /** The run waits behind others. `position` 1 is the next. */
  | (AboutRun & { readonly type: 'run.queued'; readonly position: number })
  | (AboutRun & { readonly type: 'run.started'; readonly waitedMs: number })
  /** The process that ran it was lost, and this one continues it. `attempt` 2 is the first take-over. */
  | (AboutRun & { readonly type: 'run.taken_over'; readonly attempt: number })
  /** This process closes and lets another one continue the run. */
  | (AboutRun & { readonly type: 'run.handed_over' })
  /** This process lost the thread's lease, and writes nothing more: another one goes on with the run or has ended it. */
  | (AboutRun & { readonly type: 'run.fenced' })
  /** A call of a model, through `model()` of an agent function. */
  | (AboutRun & { readonly type: 'run.model_called'; readonly call: ModelCall })
  /** The run waits for answers to its interrupts. */
  | (AboutRun & RunEnding & { readonly type: 'run.interrupted'; readonly interruptIds: readonly string[] })
  | (AboutRun &
      RunEnding & {
        readonly type: 'run.ended'
        readonly reason: RunEndReason
        /** What a failed run's agent threw, where this process ran it. For logs, never for clients. */
        readonly error?: unknown
      })

/** What a server reports to its operators. */
export type ServerEvent =
  | RunEvent
  | {
      readonly type: 'thread.deleted'
      readonly threadId: string
      readonly owner: string | null
      readonly at: number
    }
  /** A cron was due, and has started a run or not. Told by the instance that noted it. */
  | {
      readonly type: 'cron.due'
      readonly cronId: string
      readonly assistantId: string
      readonly owner: string | null
      /** Null where no run was started for a cron whose runs have threads of their own. */
      readonly threadId: string | null
      readonly runId: string | null
      /** When it was due, in milliseconds since 1970. */
      readonly dueAt: number
      /** How many later dates were over as well by then. They get no run. */
      readonly missed: number
      /** Why no run was started. For logs, never for clients. */
      readonly error?: unknown
      readonly at: number
    }
  /** A webhook or a push was not delivered, and is not tried any more. */
  | {
      readonly type: 'delivery.failed'
      /** What it was, such as `run-webhook-delivery` or `a2a-push`. */
      readonly kind: string
      readonly threadId: string
      /** The run that has ended, or that has begun the task. */
      readonly runId: string | null
      /** The host of the receiver's URL. Null where no request was to be sent. */
      readonly host: string | null
      /** How often it was tried. */
      readonly failures: number
      /** Why the last try failed is its `cause`. For logs, never for clients. */
      readonly error: unknown
      readonly at: number
    }
  /** The store does not answer. Reported once until it is back. */
  | { readonly type: 'store.unavailable'; readonly error: unknown; readonly at: number }
  | { readonly type: 'store.recovered'; readonly awayMs: number; readonly at: number }
  /** A request was answered with an error, or a command with a refusal. */
  | {
      readonly type: 'request.refused'
      readonly method: string
      /** The pattern of the route, such as `/threads/:thread_id/commands`. Undefined where no route matched. */
      readonly route: string | undefined
      readonly status: number
      /** Such as `permission_denied`. */
      readonly code: string
      readonly at: number
    }

/** Called with each event after it is recorded. Never awaited; what it throws is reported and has no other effect. */
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
