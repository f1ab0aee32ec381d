import { describe, expect, test } from 'vitest'
import { createTicker, type Ticker } from '../../src/core/http/index.ts'
import { defineAgent } from '../../src/index.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { isTerminal, type WireEvent } from '../kit/events.ts'
import { type Host, serveAgents } from '../kit/host.ts'
import { startProxy } from '../kit/proxy.ts'
import { clientFrame, openRaw, PING, PONG, type RawSocket, serverFrames, TEXT } from '../kit/raw-socket.ts'
import { openSocket, socketUrl } from '../kit/socket.ts'
import { eventually } from '../kit/wait.ts'

const agents = {
  a: defineAgent({
    async run({ custom, input }) {
      const { count = 5, size = 10 } = input as { count?: number; size?: number }
      for (let n = 0; n < count; n++) await custom({ name: 'tick', payload: 'x'.repeat(size) })
    },
  }),
}

const SUBSCRIBE = JSON.stringify({
  id: 1,
  method: 'subscription.subscribe',
  params: { channels: ALL_CHANNELS },
})

const ended = (events: readonly WireEvent[]) => events.some(isTerminal)
const subscribers = async ({ server }: Host) => (await server.engine.measure()).subscribers

/** A ticker that beats when the test says so. */
function byHand(): Ticker & { beat(): void; readonly size: number } {
  const beats = new Set<() => unknown>()
  return {
    add(beat) {
      const own = () => beat()
      beats.add(own)
      return () => void beats.delete(own)
    },
    beat() {
      for (const beat of [...beats]) beat()
    },
    get size() {
      return beats.size
    },
  }
}

/** A peer with a subscription that answers no ping. */
async function subscribed(host: Pick<Host, 'origin'>, threadId: string): Promise<RawSocket> {
  const peer = openRaw(socketUrl(host.origin, threadId))
  peer.write(clientFrame(TEXT, SUBSCRIBE))
  await eventually(() => peer.received().includes('subscription_id'))
  return peer
}

const pings = (peer: RawSocket) =>
  serverFrames(peer.received()).filter(({ opcode }) => opcode === PING).length

describe('a peer that shows no life', () => {
  test('is cut at the second beat, and what it was subscribed to is released', async () => {
    const ticker = byHand()
    const host = await serveAgents({ agents }, ticker)
    const peer = await subscribed(host, 't')
    expect([ticker.size, await subscribers(host)]).toEqual([1, 1])
    ticker.beat()
    await eventually(() => pings(peer) === 1)
    expect([ticker.size, await subscribers(host)]).toEqual([1, 1])
    ticker.beat()
    await peer.closed
    await eventually(() => ticker.size === 0)
    expect(await subscribers(host)).toBe(0)
  })

  test.each([
    ['a pong', clientFrame(PONG)],
    ['a ping', clientFrame(PING)],
    ['a message', clientFrame(TEXT, '{}')],
  ])('is told from one that sends %s', async (_, life) => {
    const ticker = byHand()
    const host = await serveAgents({ agents }, ticker)
    const peer = await subscribed(host, 't')
    for (let beat = 1; beat <= 5; beat++) {
      ticker.beat()
      await eventually(() => pings(peer) === beat)
      const before = peer.received().length
      peer.write(Buffer.concat([life, clientFrame(TEXT, '{}')]))
      await eventually(() => peer.received().length > before)
    }
    expect(peer.socket.destroyed).toBe(false)
    ticker.beat()
    ticker.beat()
    await peer.closed
  })

  test('is told from one that takes what it is sent, slowly', async () => {
    const ticker = byHand()
    const host = await serveAgents({ agents }, ticker)
    const peer = await subscribed(host, 't')
    peer.socket.pause()
    await host.thread('t').start({ count: 230, size: 60_000 })
    await host.thread('t').idle()
    // Systems keep some megabytes for a socket, and let its server write on only when a good part of them is read.
    for (let beat = 1; beat <= 3; beat++) {
      ticker.beat()
      const enough = beat * 3_000_000
      const take = () => {
        if (peer.socket.bytesRead > enough) peer.socket.pause()
      }
      peer.socket.on('data', take)
      peer.socket.resume()
      await eventually(() => peer.socket.isPaused())
      peer.socket.off('data', take)
      // What it has taken lets the server write on.
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    peer.socket.resume()
    await eventually(() => peer.received().includes('"completed"'), { everyMs: 200 })
  })

  test('is cut in the promised time, in real time, and living ones stay', async () => {
    const everyMs = 500
    const host = await serveAgents({ agents }, createTicker(everyMs))
    const living = await openSocket(socketUrl(host.origin, 't'))
    await living.command('subscription.subscribe', { channels: ALL_CHANNELS })
    const lives = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const start = performance.now()
        const peer = await subscribed(host, 't')
        const opened = performance.now()
        await peer.closed
        const end = performance.now()
        return { atLeast: end - opened, atMost: end - start }
      }),
    )
    for (const { atLeast, atMost } of lives) {
      expect(atMost).toBeGreaterThan(everyMs)
      // A beat may be late on a busy machine.
      expect(atLeast).toBeLessThan(2 * everyMs + 10_000)
    }
    await eventually(async () => (await subscribers(host)) === 1)
    await new Promise((resolve) => setTimeout(resolve, 3 * everyMs))
    await living.command('run.start', { assistant_id: 'a', input: {} })
    await living.until(ended)
  })

  test('is cut where its network is gone without a word, and so is one that takes nothing any more', async () => {
    const ticker = byHand()
    const host = await serveAgents({ agents }, ticker)
    const proxy = await startProxy(host.origin)
    const gone = await subscribed({ origin: new URL(proxy.url).origin }, 't')
    proxy.stall()
    const stalled = await subscribed(host, 't')
    stalled.socket.pause()
    await host.thread('t').start({ count: 230, size: 60_000 })
    await host.thread('t').idle()
    expect(await subscribers(host)).toBe(2)
    await eventually(async () => {
      ticker.beat()
      return (await subscribers(host)) === 0
    })
    expect(ticker.size).toBe(0)
    gone.socket.destroy()
    await proxy.close()
  })
})
