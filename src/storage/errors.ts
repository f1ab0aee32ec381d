import { AgentwireError } from '../errors.ts'

/** A guard of a commit did not hold. Nothing was written: read again and decide anew. */
export class ConflictError extends AgentwireError {
  static override readonly brand = 'ConflictError'
  constructor(message: string) {
    super('conflict', message)
  }
}

/** The writer no longer holds the lease it writes under. Nothing was written; it must stop. */
export class FencedError extends AgentwireError {
  static override readonly brand = 'FencedError'
  constructor(message: string) {
    super('fenced', message)
  }
}

/** The backend did not answer in time or refused. `written` says what is known of the commit in flight. */
export class UnavailableError extends AgentwireError {
  static override readonly brand = 'UnavailableError'
  readonly written: 'no' | 'unknown'
  /** When another try makes sense, in milliseconds. */
  readonly retryAfterMs: number
  constructor(
    message: string,
    options: { written: 'no' | 'unknown'; retryAfterMs?: number; cause?: unknown },
  ) {
    super('unavailable', message, options)
    this.written = options.written
    this.retryAfterMs = options.retryAfterMs ?? 1_000
  }
}

export const closed = (): UnavailableError =>
  new UnavailableError('The storage is closed.', { written: 'no' })
