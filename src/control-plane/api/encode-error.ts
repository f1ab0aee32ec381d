import {
  type EncodeError,
  type HttpError,
  json,
  type OnError,
  reportError,
  toHttpError,
} from '../../core/http/index.ts'
import { InvalidRequest } from '../errors.ts'

/**
 * Encodes every error as `{ "detail": … }`: a list of problems for 422, otherwise a string. From status 500
 * on, it has the `id` that `onError` received.
 */
export const encodeErrors =
  (onError: OnError | undefined): EncodeError =>
  (error, call, origin) => {
    if (error instanceof InvalidRequest) return json({ detail: error.problems }, { status: 422 })
    const known = toHttpError(error)
    const { status, headers } = known
    const detail = detailOf(known, call === undefined)
    if (status < 500) return json({ detail }, { status, headers })
    const id = reportError(error, onError, origin)
    return json({ detail, id }, { status, headers })
  }

/** FastAPI's own text, if it has one. */
function detailOf({ status, code, message }: HttpError, isUnrouted: boolean): string {
  if (status === 404 && isUnrouted) return 'Not Found'
  if (code === 'method_not_allowed') return 'Method Not Allowed'
  if (code === 'invalid_encoding') return 'There was an error parsing the body'
  if (code === 'internal_error') return 'Internal Server Error'
  return message
}
