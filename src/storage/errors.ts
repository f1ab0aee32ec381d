import { AgentwireError } from '../core/errors.ts'

/** A guard of a commit failed. Nothing was written: read again and decide again. */
export class ConflictError extends AgentwireError {
  static override readonly brand = 'ConflictError'
  constructor(message: string) {
    super('conflict', message)
  }
}

/** The writer no longer holds its lease. Nothing was written, and it must stop. */
export class FencedError extends AgentwireError {
  static override readonly brand = 'FencedError'
  constructor(message: string) {
    super('fenced', message)
  }
}

/**
 * The backend did not respond in time or rejected the call. `written` says what is known about the commit in
 * flight.
 */
export class UnavailableError extends AgentwireError {
  static override readonly brand = 'UnavailableError'
  readonly written: 'no' | 'unknown'
  /** When to retry, in milliseconds. */
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

/**
 * An agent's state contains a value that the storage cannot save. The message is for clients: it names the
 * channel, and nothing of the value.
 */
export class UnsavableError extends AgentwireError {
  static override readonly brand = 'UnsavableError'
  constructor(message: string, options: { readonly cause: unknown }) {
    super('invalid_argument', message, options)
  }
}

export const closed = (): UnavailableError =>
  new UnavailableError('The storage is closed.', { written: 'no' })
