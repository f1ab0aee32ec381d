import { DeliveryError } from './errors.ts'

/** A request whose URL and addresses were checked. */
export interface Outgoing {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  /** The request goes to one of these. Empty if the runtime does not resolve names. */
  readonly addresses: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Not sent with GET. */
  readonly body: Uint8Array<ArrayBuffer>
  /** Whether the body of the response is returned. */
  readonly keepsBody: boolean
  /** Ends the request. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly maxResponseBytes: number
}

/** The part of a response that is read. */
export interface Answer {
  /** 0 if the runtime only reports a redirect. */
  readonly status: number
  readonly retryAfter: string | null | undefined
  readonly contentType: string | null | undefined
  /** Empty unless requested. */
  readonly body: readonly Uint8Array[]
  /** Whether the body was read to its end, up to its limit, or until the connection was lost. */
  readonly ending: 'whole' | 'too_large' | 'broken'
}

/** How a runtime sends requests. */
export interface Sender {
  /** Resolves the addresses of a name. Absent if the runtime does not resolve names. */
  readonly lookup?: ((name: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined
  /**
   * Sends without following redirects. Settles when the response was read: to its end, its limit or the
   * abort.
   */
  readonly send: (request: Outgoing) => Promise<Answer>
}

/**
 * Sends requests with Node's own modules, because `fetch` resolves the name again, and so may connect to an
 * unchecked address. The modules are loaded at run time instead of imported, because bundles for every
 * runtime contain this file: see docs/decisions/0010-pinned-requests.md. Undefined if the runtime does not
 * have them.
 */
export function nodeSender(): Sender | undefined {
  const { process, navigator } = globalThis
  // This runtime's modules are built on its `fetch`, and cannot call addresses.
  if (navigator?.userAgent === 'Cloudflare-Workers' || !process?.versions?.node) return undefined
  return { lookup, send }
}

function builtin<Name extends 'node:http' | 'node:https' | 'node:dns/promises'>(name: Name) {
  const loaded = globalThis.process.getBuiltinModule?.(name)
  if (!loaded)
    throw new DeliveryError(
      'unreachable',
      `This runtime is too old to connect to checked addresses: it has no ${name}.`,
    )
  return loaded
}

/** Asks the name servers. The system's resolver has few threads, which slow names would block. */
async function lookup(name: string, signal: AbortSignal): Promise<readonly string[]> {
  if (/(^|\.)localhost$/.test(name)) return ['127.0.0.1', '::1']
  const resolver = new (builtin('node:dns/promises').Resolver)()
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel)
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  signal.removeEventListener('abort', cancel)
  if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason
  return [v4, v6].flatMap((found) => (found.status === 'fulfilled' ? found.value : []))
}

async function send(outgoing: Outgoing): Promise<Answer> {
  let failure: unknown
  for (const address of outgoing.addresses) {
    const sent = await sendTo(address, outgoing)
    if ('answer' in sent) return sent.answer
    failure = sent.failure
    if (sent.connected || outgoing.signal.aborted) break
  }
  throw failure
}

type Sent = { readonly answer: Answer } | { readonly failure: unknown; readonly connected: boolean }

function sendTo(address: string, outgoing: Outgoing): Promise<Sent> {
  const { url, method, headers, body, keepsBody, signal, timeoutMs, maxResponseBytes, addresses } = outgoing
  const { request: open } = url.protocol === 'https:' ? builtin('node:https') : builtin('node:http')
  return new Promise((resolve) => {
    let answer: Omit<Answer, 'ending'> | undefined
    let ending: Answer['ending'] = 'broken'
    let failure: unknown
    let connected = false
    const request = open({
      host: address,
      port: url.port,
      path: url.pathname + url.search,
      method,
      // TLS uses the name in the host header. A separate agent shares no connection and uses no proxy.
      headers: { ...headers, host: url.host, ...(method === 'POST' && { 'content-length': body.length }) },
      agent: false,
    })
    const destroy = () => void request.destroy()
    const connecting = setTimeout(destroy, timeoutMs / addresses.length)
    signal.addEventListener('abort', destroy)
    request.on('socket', (socket) => {
      socket.once('connect', () => {
        connected = true
        clearTimeout(connecting)
      })
    })
    request.on('response', (response) => {
      const kept: Uint8Array[] = []
      const { 'retry-after': retryAfter, 'content-type': contentType } = response.headers
      answer = { status: response.statusCode ?? 0, retryAfter, contentType, body: kept }
      let size = 0
      response.on('data', (chunk: Uint8Array) => {
        size += chunk.length
        if (size > maxResponseBytes) {
          ending = 'too_large'
          destroy()
        } else if (keepsBody) kept.push(chunk)
      })
      response.on('end', () => {
        if (ending === 'broken') ending = 'whole'
      })
      // The status is sufficient for callers that do not need the body.
      response.on('error', () => {})
    })
    request.on('error', (error) => {
      failure = error
    })
    request.on('close', () => {
      clearTimeout(connecting)
      signal.removeEventListener('abort', destroy)
      resolve(answer ? { answer: { ...answer, ending } } : { failure, connected })
    })
    request.end(method === 'POST' ? body : undefined)
  })
}
