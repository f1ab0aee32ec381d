import {
  type EncodeError,
  errorResponse,
  HttpError,
  json,
  knownBody,
  type OnError,
} from '../../core/http/index.ts'
import { RunError } from '../../engine/index.ts'
import { encodeRunError } from '../kit/errors.ts'

/** OpenAI's clients retry these statuses unless the response forbids it. */
const IS_RETRIED = (status: number): boolean => status === 408 || status === 409 || status >= 500

const NO_RETRY: Readonly<Record<string, string>> = { 'x-should-retry': 'false' }

/** Errors in the envelope of OpenAI: `{ error: { message, type, param, code } }`. */
export const errorEncoder =
  (onError: OnError | undefined): EncodeError =>
  (error, _call, origin) => {
    const plain = encodeRunError(error) ?? errorResponse(error, onError, origin)
    const { error: code, message, id } = JSON.parse(String(knownBody(plain)))
    const headers = Object.fromEntries(plain.headers)
    delete headers['content-length']
    // Another command has the key, so a retry would be rejected again.
    const isFinal = error instanceof RunError && error.code !== 'thread_busy' && error.code !== 'closing'
    return json(envelope(plain.status, code, id === undefined ? message : `${message} Error id: ${id}`), {
      status: plain.status,
      headers: { ...headers, ...(isFinal && IS_RETRIED(plain.status) && NO_RETRY) },
    })
  }

const envelope = (status: number, code: string, message: string) => ({
  error: {
    message,
    type: TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error'),
    param: null,
    code,
  },
})

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

export const badRequest = (message: string): HttpError => new HttpError(400, 'invalid_argument', message)

export const noSuchModel = (model: string): HttpError =>
  new HttpError(
    404,
    'model_not_found',
    `The model ${JSON.stringify(model.slice(0, 200))} does not exist. GET /v1/models lists those that do.`,
  )

const isMissing = (kind: string, id: string): string =>
  `${kind} ${JSON.stringify(id.slice(0, 600))} not found.`

export const noSuchResponse = (id: string): HttpError =>
  new HttpError(404, 'response_not_found', isMissing('Response', id))

export const noSuchConversation = (id: string): HttpError =>
  new HttpError(404, 'conversation_not_found', isMissing('Conversation', id))

export const noSuchItem = (id: string): HttpError =>
  new HttpError(404, 'item_not_found', isMissing('Item', id))

/**
 * The response to a request whose run has failed. The failure is reported separately. It forbids retries,
 * which would start another run.
 */
export const failedRun = (status: number, code: string, message: string): Response =>
  json(envelope(status, code, message), { status, headers: NO_RETRY })
