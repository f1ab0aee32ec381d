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
