import { AgentInputError } from '../../agents/errors.ts'
import { json, type OnError, originOf, reportError } from '../../core/http/index.ts'
import { RunError, type RunErrorCode } from '../../engine/index.ts'
import type { FaceCall } from './routes.ts'

/**
 * What an error of the engine is over each protocol. A 404 says `not_found`, any other status the code. An error of OpenAI's
 * shape has its type from the status, the A2A code its number from `A2A_ERROR_CODES`.
 */
type ErrorRow = readonly [status: number, protocol: string, a2a: string, mcp: number]

const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602

/** The one table of the engine's errors; `docs/errors.md` shows it. */
export const ERRORS = {
  invalid_argument: [400, 'invalid_argument', 'invalid_params', INVALID_PARAMS],
  no_such_thread: [404, 'no_such_run', 'task_not_found', INVALID_PARAMS],
  no_such_run: [404, 'no_such_run', 'task_not_found', INVALID_PARAMS],
  no_such_checkpoint: [404, 'no_such_checkpoint', 'invalid_params', INVALID_PARAMS],
  no_such_interrupt: [404, 'no_such_interrupt', 'invalid_params', INVALID_PARAMS],
  no_such_task: [404, 'no_such_run', 'task_not_found', INVALID_PARAMS],
  no_such_assistant: [404, 'invalid_argument', 'invalid_params', INVALID_PARAMS],
  task_ended: [409, 'invalid_argument', 'unsupported_operation', INVALID_REQUEST],
  thread_busy: [409, 'invalid_argument', 'unsupported_operation', INVALID_REQUEST],
  key_reused: [409, 'invalid_argument', 'invalid_params', INVALID_REQUEST],
  outcome_unknown: [409, 'invalid_argument', 'invalid_params', INVALID_REQUEST],
  not_supported: [422, 'not_supported', 'unsupported_operation', INVALID_REQUEST],
  limit_exceeded: [422, 'invalid_argument', 'invalid_params', INVALID_REQUEST],
  closing: [503, 'unknown_error', 'internal_error', -32603],
} as const satisfies Readonly<Record<RunErrorCode, ErrorRow>>

/** A JSON body, and the head of its response. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
}

/**
 * An error of the engine or an agent as `{ error, message }` with a status. Undefined for any other error.
 */
export function answerOfRunError(error: unknown): Answer | undefined {
  if (error instanceof RunError) {
    const { code, message } = error
    const [status] = ERRORS[code]
    return {
      status,
      ...(code === 'closing' && { headers: { 'retry-after': '1' } }),
      body: { error: status === 404 ? 'not_found' : code, message },
    }
  }
  if (error instanceof AgentInputError)
    return { status: 422, body: { error: error.code, message: error.message } }
  return undefined
}

/** The same as a `Response`. */
export function encodeRunError(error: unknown): Response | undefined {
  const answer = answerOfRunError(error)
  return answer && json(answer.body, answer)
}

/**
 * Reports an error that ends a response after its headers were sent. A deleted thread and a closing server
 * are not reported.
 */
export function reporterOf(
  { onError }: { readonly onError: OnError | undefined },
  { request, params }: FaceCall,
): (error: unknown) => void {
  // Read now, because a long stream must not keep its request in memory.
  const origin = originOf(request, params)
  return (error) => {
    if (!(error instanceof RunError)) reportError(error, onError, origin)
  }
}
