import { AgentwireError } from '../core/errors.ts'

/** The codes of `RunError`. */
export type RunErrorCode =
  | 'invalid_argument'
  | 'no_such_thread'
  | 'no_such_run'
  | 'no_such_checkpoint'
  | 'no_such_interrupt'
  | 'no_such_task'
  | 'no_such_assistant'
  /** The task accepts no more messages. */
  | 'task_ended'
  /** The thread has an active run, and the caller asked not to wait for it. */
  | 'thread_busy'
  /** Another command used this idempotency key before. */
  | 'key_reused'
  /** The process was lost during a command, and later changes hide whether it took effect. */
  | 'outcome_unknown'
  | 'not_supported'
  /** A run used more than the server allows, and failed. */
  | 'limit_exceeded'
  | 'closing'

/** A request that the run engine rejected. No state was changed. */
export class RunError extends AgentwireError {
  static override readonly brand: string = 'RunError'
  declare readonly code: RunErrorCode
  constructor(code: RunErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(code, message, options)
  }
}

/** A run was stopped because it took longer than `limits.runMs`. */
export class RunTimeout extends RunError {
  static override readonly brand = 'TimeoutError'
}

export const isTimeout = (error: unknown): boolean => error instanceof RunTimeout

export const noSuchThread = (threadId: string): RunError =>
  new RunError('no_such_thread', `Thread with ID ${threadId} not found`)

export const noSuchCheckpoint = (checkpointId: string): RunError =>
  new RunError('no_such_checkpoint', `Checkpoint ${JSON.stringify(checkpointId)} not found on this thread.`)

export const noSuchTask = (taskId: string): RunError =>
  new RunError('no_such_task', `Task ${JSON.stringify(taskId)} not found.`)

/** Clients check for this text. */
export const noSuchRun = (): RunError => new RunError('no_such_run', 'Run not found')
