import { AgentInputError } from '../../agents/errors.ts'
import { AgentwireError } from '../../core/errors.ts'
import { type ErrorOrigin, HttpError, type OnError, reportError, toHttpError } from '../../core/http/index.ts'
import { RunError } from '../../engine/index.ts'
import { type Answer, answerOfRunError, ERRORS } from '../kit/errors.ts'

/** The error codes of the protocol. */
export type ProtocolErrorCode =
  | 'invalid_argument'
  | 'unknown_command'
  | 'unknown_error'
  | 'no_such_run'
  | 'no_such_subscription'
  | 'no_such_namespace'
  | 'no_such_interrupt'
  | 'no_such_checkpoint'
  | 'permission_denied'
  | 'not_supported'

/**
 * A command that the protocol rejects. Sent with HTTP 200, because clients repeat requests that fail with
 * 5xx.
 */
export class ProtocolError extends AgentwireError {
  static override readonly brand = 'ProtocolError'
  declare readonly code: ProtocolErrorCode
  constructor(code: ProtocolErrorCode, message: string) {
    super(code, message)
  }
}

export interface CommandFailure {
  readonly type: 'error'
  readonly id: number | string | null
  readonly error: ProtocolErrorCode
  readonly message: string
}

export const failure = (
  id: CommandFailure['id'],
  error: ProtocolErrorCode,
  message: string,
): CommandFailure => ({
  type: 'error',
  id,
  error,
  message,
})

/** An error as the protocol's answer to a command. Undefined for an error that must be an HTTP error. */
export function commandFailure(id: CommandFailure['id'], error: unknown): CommandFailure | undefined {
  if (error instanceof ProtocolError) return failure(id, error.code, error.message)
  if (error instanceof AgentInputError) return failure(id, 'invalid_argument', error.message)
  if (error instanceof RunError) {
    // Nothing was done, and another server may do it: clients should try again.
    if (error.code === 'closing') return undefined
    return failure(id, ERRORS[error.code].asp, error.message)
  }
  if (error instanceof HttpError && error.status === 403)
    return failure(id, 'permission_denied', error.message)
  return undefined
}

/**
 * The answer to a failed command: HTTP 200 for errors with a protocol code, an HTTP error for those that a
 * client should retry or fix. The error of a closing server is not an answer of the protocol.
 */
export function answerOfError(
  id: CommandFailure['id'],
  error: unknown,
  onError: OnError | undefined,
  origin?: ErrorOrigin,
): Answer {
  const refusal = commandFailure(id, error)
  if (refusal) return { status: isConflict(error) ? 409 : 200, body: refusal }
  const answer = answerOfRunError(error)
  if (answer) return answer
  const { status, message, headers } = toHttpError(error)
  if (status === 500) {
    const reference = reportError(error, onError, origin)
    return { status: 200, body: failure(id, 'unknown_error', `${message} Reference: ${reference}.`) }
  }
  if (status > 500) reportError(error, onError, origin)
  const body = failure(id, status > 500 ? 'unknown_error' : 'invalid_argument', message)
  return { status, body, ...(headers && { headers }) }
}

/** Only clients that send idempotency keys get these errors, and they handle an HTTP status. */
const isConflict = (error: unknown): boolean =>
  error instanceof RunError && (error.code === 'key_reused' || error.code === 'outcome_unknown')
