import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Methods = Readonly<Record<string, (params: never) => unknown>>

interface Call {
  readonly id: number
  readonly method: string
  readonly params: never
}

/** Answers the calls of the process that measures, and ends with it. */
export async function serveCalls(server: Server, methods: Methods = {}): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  answerCalls({ port: () => (server.address() as AddressInfo).port, ...methods })
}

/** The same for a server that listens already: `port` is one of the methods. */
export function answerCalls(methods: Methods): void {
  const all: Methods = {
    cpu: () => {
      const { user, system } = process.cpuUsage()
      return user + system
    },
    memory,
    peak,
    ...methods,
  }
  process.on('message', async ({ id, method, params }: Call) => {
    try {
      process.send?.({ id, result: await all[method]!(params) })
    } catch (error) {
      process.send?.({ id, error: String(error) })
    }
  })
  process.on('disconnect', () => process.exit())
}

let highest = 0
let isSampling = false

/**
 * Gives the most resident memory since the call before, in bytes. Seen from inside: it is looked at every few milliseconds, but
 * not before the first call, because looking costs up to a tenth of the CPU time that other benchmarks measure.
 */
function peak(): number {
  if (!isSampling) {
    isSampling = true
    setInterval(() => {
      highest = Math.max(highest, process.memoryUsage.rss())
    }, 3).unref()
  }
  const seen = highest
  highest = process.memoryUsage.rss()
  return Math.max(seen, highest)
}

async function memory() {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, held: heapUsed + external }
}
