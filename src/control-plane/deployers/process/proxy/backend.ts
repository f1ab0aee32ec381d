import { Agent } from 'node:http'

export const BACKEND_HOST = '127.0.0.1'

/** How long an unused connection is kept, in milliseconds. Servers have to keep theirs longer. */
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
    /** Undefined while it is not up. */
    port: undefined as number | undefined,
    /** Keeps connections to it open between requests. */
    agent,
    /** Counts a request. The result ends it. */
    enter(): () => void {
      open++
      return leave
    },
    /** Settles when it has no requests. */
    async idle(): Promise<void> {
      if (open > 0) await new Promise<void>((resolve) => waiting.add(resolve))
    },
    /** Ends the connections that no request uses. */
    close: (): void => agent.destroy(),
  }
}
