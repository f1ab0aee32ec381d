import type { OptionTable } from '../options.ts'
import { readAllowed } from './address.ts'
import { DeliveryError } from './errors.ts'
import type { createRequester, DeliveryOptions, GuardedRequest } from './requests.ts'
import type { Answer } from './send-by-node.ts'

export type { DeliveryOptions }

export const DELIVERY_OPTIONS: OptionTable<DeliveryOptions> = {
  allowLoopback: 'boolean',
  allow: 'list',
  timeoutMs: 'number',
  maxResponseBytes: 'number',
  lookup: 'function',
}

export type DeliveryRequest = Omit<GuardedRequest, 'method' | 'keepsBody'>

/** Posts a request. Returns the status of a 2xx response. Throws `DeliveryError` otherwise. */
export type Deliver = (request: DeliveryRequest) => Promise<{ readonly status: number }>

/**
 * Posts to URLs that others chose, with `createRequester`, which is loaded on the first request. Only the
 * status of a response is returned.
 */
export function createDelivery(options: DeliveryOptions = {}): Deliver {
  readAllowed(options.allow) // Throws immediately for an invalid entry.
  let send: ReturnType<typeof createRequester> | undefined
  return async (request) => {
    send ??= (await import('./requests.ts')).createRequester(options)
    return assertDelivered(await send({ ...request, method: 'POST', keepsBody: false }))
  }
}

/** Returns the status of a successful delivery. Throws `DeliveryError` for any other. */
export function assertDelivered({ status, retryAfter }: Pick<Answer, 'status' | 'retryAfter'>): {
  readonly status: number
} {
  if (status >= 200 && status < 300) return { status }
  if (status < 400)
    throw new DeliveryError('redirected', 'The receiver responded with a redirect, which is not followed.', {
      status,
    })
  const isRetryable = status >= 500 || [408, 425, 429].includes(status)
  const seconds = Number(retryAfter ?? undefined)
  throw new DeliveryError(
    isRetryable ? 'failed' : 'rejected',
    `The receiver responded with status ${status}.`,
    {
      status,
      ...(seconds >= 0 && { retryAfterMs: seconds * 1_000 }),
    },
  )
}
