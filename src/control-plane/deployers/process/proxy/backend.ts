import { Agent } from 'node:http'

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
