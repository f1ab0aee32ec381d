import { uniqueId } from './environment.ts'
import { type Observable, observable } from './observable.ts'
import { threadRequests } from './requests.ts'
import { createThreadStore, type ThreadStore } from './threads.ts'

export interface AgentClientOptions {
  /** The URL where the server is mounted, such as `https://example.com/agents`. */
  readonly apiUrl: string
  /** Sends each request, for example with a token. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** The state that all hooks of a page share. Create one for each server, outside of components. */
export interface AgentClient extends Connection {
  readonly apiUrl: string
  readonly threads: ThreadStore
}

export function createAgentClient({ apiUrl, fetch }: AgentClientOptions): AgentClient {
  const connection = createConnection(fetch)
  const threads = createThreadStore(
    threadRequests(apiUrl, connection.fetch),
    `agentwire threads of ${apiUrl}`,
  )
  return { apiUrl, threads, ...connection }
}

export interface Connection {
  /** A `fetch` that retries while the server is unavailable. */
  readonly fetch: typeof fetch
  /** False while requests wait for a server that does not respond. */
  readonly reachable: Pick<Observable<boolean>, 'get' | 'subscribe'>
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 5_000
/** The statuses of proxies, and of servers that are shutting down or have lost their storage. */
const AWAY = [502, 503, 504]

/**
 * A connection that repeats requests while the server is unavailable, until it responds or the caller aborts.
 * Messages that the user sends meanwhile arrive later, and streams continue without a page reload. A command
 * has an idempotency key, so the server runs it only once even if a response was lost.
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

/** Ends early when the browser is online again or the caller aborts. */
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
