import { type Observable, observable } from './observable.ts'
import { uniqueId } from './unique-id.ts'

export interface Connection {
  /** `fetch` that does not give up while the server is away. */
  readonly fetch: typeof fetch
  /** False while requests wait for a server that does not answer. */
  readonly reachable: Pick<Observable<boolean>, 'get' | 'subscribe'>
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 5_000
/** What proxies answer, and servers that shut down or whose storage is away. */
const AWAY = [502, 503, 504]

/**
 * Requests that wait for a server that is away: they are made again until there is an answer or the caller aborts. What the user sends
 * meanwhile arrives later, and streams go on without a reload of the page. A command has a key, so that the server does it once also where only
 * its answer was lost.
 */
export function createConnection(send: typeof fetch = (...args) => fetch(...args)): Connection {
  const reachable = observable(true)
  const patient: typeof fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers)
    if (String(input).endsWith('/commands')) headers.set('idempotency-key', uniqueId())
    for (let attempt = 0; ; attempt += 1) {
      const response = await send(input, { ...init, headers }).catch(() => undefined)
      init.signal?.throwIfAborted()
      const isAnswer = response !== undefined && !AWAY.includes(response.status)
      reachable.set(isAnswer)
      if (isAnswer) return response
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS), init.signal)
    }
  }
  return { fetch: patient, reachable }
}

/** Ends early where the browser is online again, and where the caller has aborted. */
function pause(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      removeEventListener('online', end)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    addEventListener('online', end)
    signal?.addEventListener('abort', end)
  })
}
