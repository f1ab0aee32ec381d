import { AgentwireError } from '../core/errors.ts'
import { HttpError, type HttpErrorOptions } from '../core/http/index.ts'
import type { Problem } from './wire/problems.ts'

/** An error response with `{ "detail": "…" }`. */
export const refusal = (status: number, detail: string, options?: HttpErrorOptions): HttpError =>
  new HttpError(status, CODES[status] ?? 'refused', detail, options)

const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_argument',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  412: 'precondition_failed',
}

/** An error response with status 422 and `{ "detail": [ … ] }`. */
export class InvalidRequest extends AgentwireError {
  static override readonly brand = 'InvalidRequest'
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super('invalid_request', 'The request is not valid for this operation.')
    this.problems = problems
  }
}

/** Also for revisions and for other owners' deployments, so that callers do not learn which ids exist. */
export const noDeployment = (id: string): HttpError => refusal(404, `Deployment ID ${id} not found.`)

/** A request to a provider failed. The message only quotes an OAuth error code, so that it can be logged. */
export class ProviderError extends AgentwireError {
  static override readonly brand = 'ProviderError'
  /** Whether a retry may succeed. */
  readonly isTransient: boolean
  /** `code`: the provider's code, such as `invalid_grant`, otherwise `invalid_answer` or `unreachable`. */
  constructor(code: string, message: string, isTransient = false) {
    super(code, message)
    this.isTransient = isTransient
  }
}

export const noProvider = (providerId: string): HttpError =>
  refusal(404, `OAuth provider ID ${providerId} not found.`)

/** Also for a token of another user. */
export const noToken = (tokenId: string): HttpError => refusal(404, `OAuth token ID ${tokenId} not found.`)
