import type { HttpError } from '../../../core/http/index.ts'
import { refusal } from '../../errors.ts'

/** The largest upload, in bytes. */
const MAX_BYTES = 209_715_200

export interface Sizes {
  readonly min: number
  readonly max: number
}

/** The accepted sizes: those of the server, narrowed by the header. Throws 400 for an invalid range. */
export function sizesOf(headers: Headers): Sizes {
  const range = headers.get('x-goog-content-length-range')
  if (range === null) return { min: 1, max: MAX_BYTES }
  const [, min, max] = /^\s*(\d{1,15})\s*,\s*(\d{1,15})\s*$/.exec(range) ?? []
  if (min === undefined || Number(min) > Number(max)) {
    throw refusal(400, 'X-Goog-Content-Length-Range must be two numbers of bytes, such as 0,209715200.')
  }
  return { min: Math.max(1, Number(min)), max: Math.min(MAX_BYTES, Number(max)) }
}

export interface BoundedUpload {
  /** Its maximum size. */
  readonly bytes: number
  readonly body: ReadableStream<Uint8Array>
  /** Why the upload was aborted, if it was. */
  refusal(): HttpError | undefined
  /** Whether the client has aborted it. */
  isBroken(): boolean
}

/**
 * A request's body, which fails if its size is not allowed or differs from the declared one. Throws
 * immediately if the headers already show it.
 */
export function boundedUpload({ headers, body }: Request, { min, max: allowed }: Sizes): BoundedUpload {
  const declared = headers.get('content-length')
  const max = Math.min(allowed, Number(declared ?? allowed))
  const tooLarge = () => refusal(413, `The upload is larger than ${allowed} bytes.`)
  const tooSmall = () => refusal(400, `The upload has fewer than ${min} bytes.`)
  if (declared !== null && Number(declared) > allowed) throw tooLarge()
  if (body === null || (declared !== null && Number(declared) < min)) throw tooSmall()
  let length = 0
  let reason: HttpError | undefined
  let broken = false
  const reader = body.getReader()
  const bounded = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const fail = (error: HttpError) => {
          reason = error
          controller.error(error)
          reader.cancel(error).catch(() => {}) // The response tells the client.
        }
        try {
          const { done, value } = await reader.read()
          if (done) {
            if (length < min) return fail(tooSmall())
            return controller.close()
          }
          length += value.byteLength
          if (length > max) return fail(tooLarge())
          controller.enqueue(value)
        } catch (error) {
          broken = true
          controller.error(error)
        }
      },
      cancel: (cause) => reader.cancel(cause),
    },
    { highWaterMark: 0 },
  )
  return { bytes: max, body: bounded, refusal: () => reason, isBroken: () => broken }
}
