import {
  type EncodeError,
  type HttpError,
  json,
  type OnError,
  reportError,
  toHttpError,
} from '../../http/index.ts'
import { InvalidRequest } from '../errors.ts'

/**
 * Every error as `{ "detail": … }`: problems for 422, else a text. From 500 on it has the `id` given to
 * `onError`.
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

/** FastAPI's own words, where it has some. */
function detailOf({ status, code, message }: HttpError, isUnrouted: boolean): string {
  if (status === 404 && isUnrouted) return 'Not Found'
  if (code === 'method_not_allowed') return 'Method Not Allowed'
  if (code === 'invalid_encoding') return 'There was an error parsing the body'
  if (code === 'internal_error') return 'Internal Server Error'
  return message
}
