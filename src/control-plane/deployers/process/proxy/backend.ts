import { createHash } from 'node:crypto'
import { Agent, type IncomingMessage } from 'node:http'

export const BACKEND_HOST = '127.0.0.1'

/** How long an unused connection is kept, in milliseconds. Servers must keep theirs longer. */
const UNUSED_MS = 1_000

/** A server behind a proxy, and its requests. It listens on the loopback interface. */
export type Backend = ReturnType<typeof createBackend>

export function createBackend() {
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo', timeout: UNUSED_MS })
  const waiting = new Set<() => void>()
  let open = 0

  function leave(): void {
    open--
    if (open > 0) return
    for (const resolve of waiting) resolve()
    waiting.clear()
  }

  return {
    /** Undefined while the server is down. */
    port: undefined as number | undefined,
    /** Keeps connections to the server open between requests. */
    agent,
    /** Counts a request. The returned function ends it. */
    enter(): () => void {
      open++
      return leave
    },
    /** Resolves when the server has no requests. */
    async idle(): Promise<void> {
      if (open > 0) await new Promise<void>((resolve) => waiting.add(resolve))
    },
    /** Closes connections that no request uses. */
    close: (): void => agent.destroy(),
  }
}

/** Whether a request may reach a deployment's server. */
export type Gate = (req: IncomingMessage) => boolean

export const openGate: Gate = () => true

/**
 * Accepts requests with one of the keys, as `X-Api-Key` or as a bearer token, and removes the key from them,
 * so that no server receives it. `GET /ok` and CORS preflights, which cannot have a key, are accepted too.
 */
export function keyGate(keys: readonly string[]): Gate {
  const known = new Set(keys.map(digest))
  return (req) => {
    const { headers, method, url = '' } = req
    const given = [headers['x-api-key'], /^Bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1]]
    const [isKey, isBearer] = given.map((key) => typeof key === 'string' && known.has(digest(key)))
    if (isKey) remove(req, 'x-api-key')
    if (isBearer) remove(req, 'authorization')
    return isKey || isBearer || method === 'OPTIONS' || (method === 'GET' && /^\/ok(?:\?|$)/.test(url))
  }
}

/** Digests are compared, so that the response time reveals nothing about a key. */
const digest = (key: string): string => createHash('sha256').update(key).digest('base64')

function remove(req: IncomingMessage, name: string): void {
  delete req.headers[name]
  for (let at = req.rawHeaders.length - 2; at >= 0; at -= 2)
    if (req.rawHeaders[at]!.toLowerCase() === name) req.rawHeaders.splice(at, 2)
}
