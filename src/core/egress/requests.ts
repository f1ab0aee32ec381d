import { reachOf } from './address.ts'
import { type AddressPolicy, checkAddresses, checkUrl, nameOf } from './check-url.ts'
import { DeliveryError } from './errors.ts'
import { type Answer, nodeSender, type Outgoing, type Sender } from './send-by-node.ts'

export interface DeliveryOptions extends AddressPolicy {
  /** The maximum time for a request, including name resolution, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined
  /** How much of a response is read before the connection is closed, in bytes. Default: 65,536. */
  readonly maxResponseBytes?: number | undefined
  /** Resolves all IP addresses of a name. Default: asks the system's name servers, not its hosts file. */
  readonly lookup?: ((name: string) => Promise<readonly string[]>) | undefined
}

export interface GuardedRequest extends Pick<Outgoing, 'method' | 'keepsBody'> {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body: string
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends requests to URLs that others chose, and only to the public internet: all addresses of a name are
 * checked, and the request goes to a checked address. Redirects are not followed. Throws `DeliveryError` if
 * there is no response.
 */
export function createRequester(options: DeliveryOptions): (request: GuardedRequest) => Promise<Answer> {
  const { timeoutMs = 10_000, maxResponseBytes = 65_536 } = options
  const sender = nodeSender() ?? fetchSender
  const lookup = options.lookup ?? sender.lookup

  async function addressesOf(url: URL, signal: AbortSignal): Promise<readonly string[]> {
    const name = nameOf(url)
    if (!sender.lookup) return [] // `checkUrl` already rejected names that would have to be resolved.
    const addresses = reachOf(name) ? [name] : await untilAbort(signal, lookup!(name, signal))
    checkAddresses(addresses, options, name)
    return addresses.slice(0, MAX_ADDRESSES)
  }

  return async ({ url: text, method, headers, body, keepsBody, signal }) => {
    const url = checkUrl(text, options, sender.lookup !== undefined)
    const checked = { url, method, keepsBody, headers: checkHeaders(headers), body: encoder.encode(body) }
    const ended = new AbortController()
    const abort = () => ended.abort(new DeliveryError('aborted', 'The delivery was aborted.'))
    const late = () => ended.abort(new DeliveryError('timeout', `No answer within ${timeoutMs} ms.`))
    const timer = setTimeout(late, timeoutMs)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    try {
      const addresses = await addressesOf(url, ended.signal)
      ended.signal.throwIfAborted()
      return await sender.send({ ...checked, addresses, signal: ended.signal, timeoutMs, maxResponseBytes })
    } catch (error) {
      if (error instanceof DeliveryError) throw error
      if (ended.signal.aborted) throw ended.signal.reason
      throw new DeliveryError('unreachable', `The receiver could not be reached${codeOf(error)}.`)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** Sends requests with `fetch`, on runtimes whose `fetch` cannot reach private networks. */
const fetchSender: Sender = {
  async send({ url, method, headers, body, keepsBody, signal, maxResponseBytes }) {
    const content = method === 'GET' ? {} : { body }
    const response = await fetch(url, { method, headers, ...content, redirect: 'manual', signal })
    const kept: Uint8Array[] = []
    let ending: Answer['ending'] = 'whole'
    try {
      let size = 0
      const reader = response.body?.getReader()
      for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
        size += next.value.length
        if (size > maxResponseBytes) {
          ending = 'too_large'
          await reader?.cancel()
        } else if (keepsBody) kept.push(next.value)
      }
    } catch {
      ending = 'broken' // The status is sufficient for callers that do not need the body.
    }
    const { status, headers: answered } = response
    const [retryAfter, contentType] = [answered.get('retry-after'), answered.get('content-type')]
    return { status, retryAfter, contentType, body: kept, ending }
  },
}

const encoder = /* @__PURE__ */ new TextEncoder()

/** How many addresses are tried if a receiver cannot be reached. */
const MAX_ADDRESSES = 8

function checkHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(headers))
  } catch {
    throw new DeliveryError('invalid_request', 'A header has an invalid name or value.')
  }
}

function untilAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  return Promise.race([work, aborted])
}

/** The code of a system error. Its message is omitted, because it may quote the response. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? `: ${code}` : ''
}
