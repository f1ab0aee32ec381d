import { AgentInputError } from '../../agents/errors.ts'
import { json, type OnError, originOf, reportError } from '../../core/http/index.ts'
import { RunError, type RunErrorCode } from '../../engine/index.ts'
import type { FaceCall } from './routes.ts'

/** The HTTP status by code. All other codes are 404. */
const HTTP_STATUS: Readonly<Partial<Record<RunErrorCode, number>>> = {
  invalid_argument: 400,
  thread_busy: 409,
  key_reused: 409,
  outcome_unknown: 409,
  not_supported: 422,
  closing: 503,
}

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
    return {
      status: HTTP_STATUS[code] ?? 404,
      ...(code === 'closing' && { headers: { 'retry-after': '1' } }),
      body: { error: httpCode(code), message },
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

const httpCode = (code: RunErrorCode): string => (code.startsWith('no_such') ? 'not_found' : code)

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
