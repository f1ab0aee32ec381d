import { v7 } from '@langchain/core/utils/uuid'
import { useSyncExternalStore } from 'react'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 5_000
/** What proxies answer, and servers that shut down or whose storage is away. */
const AWAY = [502, 503, 504]

let reachable = true
const listeners = new Set<() => void>()

/** False while requests wait for a server that does not answer. */
export const useReachable = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => reachable,
    () => true,
  )

/**
 * `fetch` that does not give up: while the server is away it tries again, until there is an answer or the caller aborts. What the user
 * sends meanwhile arrives later, and streams go on without a reload of the page. A command has a key, so that the server does it once
 * also where only its answer was lost.
 */
export const patientFetch: typeof fetch = async (input, init = {}) => {
  const headers = new Headers(init.headers)
  if (String(input).endsWith('/commands')) headers.set('idempotency-key', v7())
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(input, { ...init, headers }).catch(() => undefined)
    init.signal?.throwIfAborted()
    const isAnswer = response !== undefined && !AWAY.includes(response.status)
    setReachable(isAnswer)
    if (isAnswer) return response
    await pause(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS), init.signal)
  }
}

function setReachable(now: boolean): void {
  if (now === reachable) return
  reachable = now
  for (const listener of listeners) listener()
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
