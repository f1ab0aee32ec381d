import { AgentInputError } from '../agents/errors.ts'
import { json, type OnError, originOf, reportError } from '../http/index.ts'
import { RunError, type RunErrorCode } from '../runs/index.ts'
import type { FaceCall } from './routes.ts'

/** Where it is not 404. */
const HTTP_STATUS: Readonly<Partial<Record<RunErrorCode, number>>> = {
  invalid_argument: 400,
  thread_busy: 409,
  key_reused: 409,
  outcome_unknown: 409,
  not_supported: 422,
  closing: 503,
}

/** A body of JSON, and the head of its response. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
}

/** A refusal of the engine or an agent as `{ error, message }` with a status. Undefined for any other error. */
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

/** The same as a response. */
export function encodeRunError(error: unknown): Response | undefined {
  const answer = answerOfRunError(error)
  return answer && json(answer.body, answer)
}

const httpCode = (code: RunErrorCode): string => (code.startsWith('no_such') ? 'not_found' : code)

/** Reports what breaks a response off after its head. A deleted thread and a closing server are not failures. */
export function reporterOf(
  { onError }: { readonly onError: OnError | undefined },
  { request, params }: FaceCall,
): (error: unknown) => void {
  // Now, because a stream of many hours must not keep its request.
  const origin = originOf(request, params)
  return (error) => {
    if (!(error instanceof RunError)) reportError(error, onError, origin)
  }
}
