import { AgentwireError } from '../../errors.ts'
import type { HttpError } from '../../http/index.ts'
import { refusal } from '../errors.ts'

/** A request to a provider failed. The message quotes only an error code of OAuth, so that it can be logged. */
export class ProviderError extends AgentwireError {
  static override readonly brand = 'ProviderError'
  /** Whether another try may succeed. */
  readonly isTransient: boolean
  /** `code`: what the provider says, such as `invalid_grant`, else `invalid_answer`, `unreachable`. */
  constructor(code: string, message: string, isTransient = false) {
    super(code, message)
    this.isTransient = isTransient
  }
}

export const noProvider = (providerId: string): HttpError =>
  refusal(404, `OAuth provider ID ${providerId} not found.`)

/** Also for a token of another user. */
export const noToken = (tokenId: string): HttpError => refusal(404, `OAuth token ID ${tokenId} not found.`)
