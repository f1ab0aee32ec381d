import { AgentInputError } from '../../agents/errors.ts'
import { json, type OnError, originOf, reportError } from '../../core/http/index.ts'
import { RunError, type RunErrorCode } from '../../engine/index.ts'
import type { FaceCall } from './routes.ts'

/** What an error of the engine is over each protocol. */
interface ErrorRow {
  /** The HTTP status. A 404 says `not_found`, any other the code. An error of OpenAI's shape has its type from it. */
  readonly status: number
  /** The code in the answer to a command of the Agent Streaming Protocol. */
  readonly asp: string
  /** A key of `A2A_ERROR_CODES`. */
  readonly a2a: string
  /** The code of JSON-RPC. */
  readonly mcp: number
}

const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602

/** The one table of the engine's errors; `docs/errors.md` shows it. */
export const ERRORS = {
  invalid_argument: { status: 400, asp: 'invalid_argument', a2a: 'invalid_params', mcp: INVALID_PARAMS },
  no_such_thread: { status: 404, asp: 'no_such_run', a2a: 'task_not_found', mcp: INVALID_PARAMS },
  no_such_run: { status: 404, asp: 'no_such_run', a2a: 'task_not_found', mcp: INVALID_PARAMS },
  no_such_checkpoint: { status: 404, asp: 'no_such_checkpoint', a2a: 'invalid_params', mcp: INVALID_PARAMS },
  no_such_interrupt: { status: 404, asp: 'no_such_interrupt', a2a: 'invalid_params', mcp: INVALID_PARAMS },
  no_such_task: { status: 404, asp: 'no_such_run', a2a: 'task_not_found', mcp: INVALID_PARAMS },
  no_such_assistant: { status: 404, asp: 'invalid_argument', a2a: 'invalid_params', mcp: INVALID_PARAMS },
  task_ended: { status: 409, asp: 'invalid_argument', a2a: 'unsupported_operation', mcp: INVALID_REQUEST },
  thread_busy: { status: 409, asp: 'invalid_argument', a2a: 'unsupported_operation', mcp: INVALID_REQUEST },
  key_reused: { status: 409, asp: 'invalid_argument', a2a: 'invalid_params', mcp: INVALID_REQUEST },
  outcome_unknown: { status: 409, asp: 'invalid_argument', a2a: 'invalid_params', mcp: INVALID_REQUEST },
  not_supported: { status: 422, asp: 'not_supported', a2a: 'unsupported_operation', mcp: INVALID_REQUEST },
  limit_exceeded: { status: 422, asp: 'invalid_argument', a2a: 'invalid_params', mcp: INVALID_REQUEST },
  closing: { status: 503, asp: 'unknown_error', a2a: 'internal_error', mcp: -32603 },
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
    const { status } = ERRORS[code]
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
