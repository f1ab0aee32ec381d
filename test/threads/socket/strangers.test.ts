import { describe, expect, test } from 'vitest'
import { type SocketSession, socketOf } from '../../../src/core/http/index.ts'
import { textsOf } from '../../../src/core/http/sockets/native.ts'
import { createAgentServer } from '../../../src/index.ts'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import { isTerminal, type Json, type WireEvent } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { openSocket, socketUrl, type TestSocket } from '../../kit/socket.ts'
import { eventually } from '../../kit/wait.ts'
import { ticks } from '../ticks.ts'

const agents = { a: ticks }

const ended =
  (runs = 1) =>
  (events: readonly WireEvent[]) =>
    events.filter(isTerminal).length >= runs
const seqs = (events: readonly WireEvent[]) => events.map(({ seq }) => seq)

async function subscribe(socket: TestSocket, params: object = {}): Promise<string> {
  const answer = await socket.command('subscription.subscribe', { channels: ALL_CHANNELS, ...params })
  expect(answer.type).toBe('success')
  return answer.result.subscription_id
}

/** The session of a handshake that was accepted and is not opened yet. */
async function accepted(
  server: ReturnType<typeof createAgentServer>,
  threadId = 't',
): Promise<SocketSession> {
  const headers = { upgrade: 'websocket' }
  return socketOf(
    await server.fetch(new Request(`http://localhost/threads/${threadId}/stream`, { headers })),
  )!
}

describe('a cursor', () => {
  test.each([
    [Number.MAX_SAFE_INTEGER, 'success'],
    [0, 'success'],
    ['1e400', 'error'],
    [2 ** 60, 'error'],
    [-1, 'error'],
    [0.5, 'error'],
    ['"3"', 'error'],
    ['[1]', 'error'],
  ])('of %s is a cursor beyond the log, or refused', async (since, type) => {
    const host = await serveAgents({ agents })
    await host.thread('t').start()
    const all = await host.thread('t').transcript()
    const socket = await openSocket(socketUrl(host.origin, 't'))
    socket.send(
      `{"id":7,"method":"subscription.subscribe","params":{"channels":${JSON.stringify(ALL_CHANNELS)},"since":${since}}}`,
    )
    await eventually(() => socket.received.length > 0)
    expect(socket.received[0]).toMatchObject({ type, id: 7 })
    if (type === 'success') expect(await socket.until(ended())).toEqual(all)
    else expect((await socket.command('state.get', {})).type).toBe('success')
  })
})

describe('a subscription', () => {
  test('that ends in the middle of its replay leaves the others whole', async () => {
    const host = await serveAgents({ agents })
    await host.thread('t').start({ count: 3_000, size: 100 })
    await host.thread('t').idle()
    for (let enough = 1; enough < 2_500; enough += 800) {
      const session = await accepted(host.server)
      const received: Json[] = []
      session.open({
        send(frames) {
          received.push(...textsOf(frames).map((text) => JSON.parse(text)))
          return false
        },
        close: () => session.close(),
      })
      const ends = () => received.filter((message) => message.type === 'event' && isTerminal(message))
      /** Lets the network take what it was given, until enough has come. */
      const take = (holds: () => boolean) =>
        eventually(() => {
          if (!holds()) session.drain()
          return holds()
        })
      const send = (id: number, method: string, params: object) =>
        session.message(JSON.stringify({ id, method, params }))
      const answer = async (id: number) => {
        await take(() => received.some((message) => message.id === id))
        return received.find((message) => message.id === id).result
      }
      send(1, 'subscription.subscribe', { channels: ['lifecycle'], since: 0 })
      send(2, 'subscription.subscribe', { channels: ALL_CHANNELS, since: 0 })
      const { subscription_id } = await answer(2)
      await take(() => received.length > enough)
      send(3, 'subscription.unsubscribe', { subscription_id })
      await answer(3)
      const stopped = received.length
      const runs = ends().length
      send(4, 'run.start', { assistant_id: 'a', input: {} })
      await answer(4)
      await take(() => ends().length > runs)
      const after = received.slice(stopped).filter(({ type }) => type === 'event')
      expect(new Set(after.map(({ method }) => method))).toEqual(new Set(['lifecycle']))
      const all = seqs(received.filter(({ type }) => type === 'event'))
      expect(all).toEqual([...new Set(all)].sort((a, b) => a - b))
      session.close()
      await host.thread('t').idle()
    }
  })

  test('is restored with all others or not at all', async () => {
    const host = await serveAgents({ agents })
    const run_id = await host.thread('t').start()
    await host.thread('t').idle()
    const first = await openSocket(socketUrl(host.origin, 't'))
    const good = await subscribe(first)
    const bad = `7.${btoa(encodeURIComponent('{"channels":7}'))}`
    const second = await openSocket(socketUrl(host.origin, 't'))
    const many = Array.from({ length: 257 }, (_, i) => `${i}${good.slice(1)}`)
    for (const subscriptions of [[good, bad], many]) {
      const answer = await second.command('subscription.reconnect', { run_id, subscriptions })
      expect(answer).toMatchObject({ type: 'error', error: 'invalid_argument' })
    }
    expect((await host.server.engine.measure()).subscribers).toBe(1)
    const twice = await second.command('subscription.reconnect', { run_id, subscriptions: [good, good] })
    expect(twice.result.restored).toBe(true)
    await second.until(ended())
    expect(seqs(second.events)).toEqual(second.events.map((_, i) => i + 1))
    const open = [`9${good.slice(1)}`, good]
    expect(await second.command('subscription.reconnect', { run_id, subscriptions: open })).toMatchObject({
      type: 'error',
      error: 'invalid_argument',
      message: expect.stringContaining('already open'),
    })
    expect((await host.server.engine.measure()).subscribers).toBe(2)
  })

  test('has a filter of a bounded length, because its id has all of it', async () => {
    const host = await serveAgents({ agents })
    const socket = await openSocket(socketUrl(host.origin, 't'))
    const channels = ['x'.repeat(65_536)]
    expect(await socket.command('subscription.subscribe', { channels })).toMatchObject({
      type: 'error',
      error: 'invalid_argument',
    })
    await subscribe(socket, { namespaces: Array.from({ length: 500 }, (_, i) => [`tools:${i}`]) })
  })
})

test('ten thousand tiny messages a second are answered or end their socket, and others go on', async () => {
  const host = await serveAgents({ agents })
  const [flooding, other] = await Promise.all([
    openSocket(socketUrl(host.origin, 't')),
    openSocket(socketUrl(host.origin, 'u')),
  ])
  await subscribe(other)
  let sent = 0
  let worst = 0
  const end = performance.now() + 2_000
  while (performance.now() < end && flooding.socket.readyState === flooding.socket.OPEN) {
    for (let i = 0; i < 100; i++) flooding.send(++sent % 2 ? '{}' : `{"id":${sent},"method":"x"}`)
    const asked = performance.now()
    if (sent % 1_000 === 0) {
      await other.command('agent.getTree', {})
      worst = Math.max(worst, performance.now() - asked)
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await other.command('run.start', { assistant_id: 'a', input: {} })
  await other.until(ended())
  if (flooding.socket.readyState === flooding.socket.OPEN) {
    await eventually(() => flooding.received.length === sent, { timeoutMs: 200_000, what: 'All answers' })
  } else expect((await flooding.closed)[0]).toBe(1008)
  expect(worst).toBeLessThan(10_000)
})

describe('a server that closes', () => {
  test('while sockets replay lets them read to the end, and then ends them with 1001', async () => {
    const host = await serveAgents({ agents })
    await host.thread('t').start({ count: 3_000, size: 1_000 })
    await host.thread('t').idle()
    const count = (await host.thread('t').transcript()).length
    const sockets = await Promise.all(
      Array.from({ length: 4 }, () => openSocket(socketUrl(host.origin, 't'))),
    )
    await Promise.all(sockets.map((socket) => subscribe(socket)))
    expect(Math.min(...sockets.map(({ events }) => events.length))).toBeLessThan(count)
    await host.server.close()
    for (const socket of sockets) {
      expect(await socket.closed).toEqual([1001, 'This server is shutting down.'])
      expect(seqs(socket.events)).toEqual(Array.from({ length: count }, (_, i) => i + 1))
    }
  })

  test('ends a socket that opens after its handshake was accepted before', async () => {
    const server = createAgentServer({ agents })
    const session = await accepted(server)
    await server.close()
    const closes: unknown[] = []
    session.open({
      send: () => true,
      close(code) {
        closes.push(code)
        session.close()
      },
    })
    expect(closes).toEqual([1001])
    session.message('{}')
    session.drain()
  })

  test('leaves a socket that nobody reads to the host, which cuts it', async () => {
    const host = await serveAgents({ agents })
    await host.thread('t').start({ count: 5_000, size: 3_000 })
    await host.thread('t').idle()
    const socket = await openSocket(socketUrl(host.origin, 't'))
    await subscribe(socket)
    socket.socket.pause()
    await host.server.close()
    host.cut()
    socket.socket.resume()
    expect((await socket.closed)[0]).toBe(1006)
  })
})
