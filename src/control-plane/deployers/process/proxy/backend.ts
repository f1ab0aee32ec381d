import { Agent } from 'node:http'

/** A server behind a proxy, and the requests that it works on. It listens on the loopback interface. */
export interface Backend {
  /** Undefined while it is not up. */
  port: number | undefined
  /** Keeps connections to it open between requests. */
  readonly agent: Agent
  /** Counts a request in. The result counts it out. */
  enter(): () => void
  /** Settles when it works on no request. */
  idle(): Promise<void>
  /** Ends the connections that no request uses. */
  close(): void
}

export const BACKEND_HOST = '127.0.0.1'

/** How long an unused connection is kept, in milliseconds: shorter than any server does, so that no request is sent into one that is being closed. */
const UNUSED_MS = 1_000

export function createBackend(): Backend {
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo', timeout: UNUSED_MS })
  const waiting = new Set<() => void>()
  let underWay = 0

  function leave(): void {
    underWay--
    if (underWay > 0) return
    for (const resolve of waiting) resolve()
    waiting.clear()
  }

  return {
    port: undefined,
    agent,
    enter() {
      underWay++
      return leave
    },
    async idle() {
      if (underWay > 0) await new Promise<void>((resolve) => waiting.add(resolve))
    },
    close: () => agent.destroy(),
  }
}
