import { AgentwireError } from '../../core/errors.ts'
import type { HttpError } from '../../core/http/index.ts'
import { refusal } from '../errors.ts'

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
