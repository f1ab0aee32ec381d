import type { Principal } from '../principal.ts'
import { brokenOff, knownBody } from './respond.ts'

/** The longest time that a timer waits, in milliseconds. */
const MAX_WAIT = 2 ** 31 - 1

/** When a principal's credentials expire, in milliseconds since 1970. Undefined: never. */
function expiryOf(principal: Principal | null): number | undefined {
  const { expiresAt } = principal ?? {}
  const at = expiresAt instanceof Date ? expiresAt.getTime() : expiresAt
  return typeof at === 'number' && Number.isFinite(at) ? at : undefined
}

/** Calls back when a principal's credentials expire. Returns a function that forgets it. */
export function onExpiry(principal: Principal | null, expire: () => void): () => void {
  const at = expiryOf(principal)
  if (at === undefined) return () => {}
  let timer: ReturnType<typeof setTimeout>
  const wait = (): void => {
    const left = at - Date.now()
    timer = setTimeout(() => (left > MAX_WAIT ? wait() : expire()), Math.max(0, Math.min(left, MAX_WAIT)))
    // It keeps no process alive. Not every runtime has timers that can.
    ;(timer as { readonly unref?: () => void }).unref?.()
  }
  wait()
  return () => clearTimeout(timer)
}

/**
 * A response whose stream breaks when the caller's credentials expire, so that the client reconnects with new
 * ones. A response that is one JSON document is not changed.
 */
export function untilExpiry(response: Response, principal: Principal | null): Response {
  const { body, headers, status, statusText } = response
  const isStream = body && knownBody(response) === undefined
  if (!isStream || expiryOf(principal) === undefined || /json$/.test(headers.get('content-type') ?? ''))
    return response
  const reader = body.getReader()
  let forget = () => {}
  const bounded = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        forget = onExpiry(principal, () => {
          controller.error(brokenOff())
          // A stream that has failed cannot be cancelled.
          reader.cancel().catch(() => {})
        })
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          forget()
          controller.close()
        } catch (error) {
          forget()
          controller.error(error)
        }
      },
      cancel(reason) {
        forget()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(bounded, { status, statusText, headers })
}
