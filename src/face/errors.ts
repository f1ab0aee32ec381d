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

/** A refusal of the engine or an agent as `{ error, message }` with a status. Undefined for any other error. */
export function encodeRunError(error: unknown): Response | undefined {
  if (error instanceof RunError) {
    const headers: Record<string, string> = error.code === 'closing' ? { 'retry-after': '1' } : {}
    return json(
      { error: httpCode(error.code), message: error.message },
      { status: HTTP_STATUS[error.code] ?? 404, headers },
    )
  }
  if (error instanceof AgentInputError)
    return json({ error: error.code, message: error.message }, { status: 422 })
  return undefined
}

const httpCode = (code: RunErrorCode): string => (code.startsWith('no_such') ? 'not_found' : code)

/** Reports what breaks a response off after its head. A deleted thread and a closing server are not failures. */
export const reporterOf =
  ({ onError }: { readonly onError: OnError | undefined }, { request, params }: FaceCall) =>
  (error: unknown): void => {
    if (!(error instanceof RunError)) reportError(error, onError, originOf(request, params))
  }
