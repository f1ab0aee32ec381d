import { connect } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import { isTerminal, type WireEvent } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { openSocket, socketUrl } from '../../kit/socket.ts'
import { eventually } from '../../kit/wait.ts'
import { ticks } from '../ticks.ts'

const agents = { a: ticks }

const MAX_BODY = 20_000
/** Looks at each event once: a thousand sockets with hundreds of events wait for the same one. */
const ended = () => {
  let seen = 0
  return (events: readonly WireEvent[]): boolean => {
    while (seen < events.length) if (isTerminal(events[seen++]!)) return true
    return false
  }
}
const serve = () => serveAgents({ agents, http: { maxBodyBytes: MAX_BODY } })

describe('a message that is no command', () => {
  const deep = `${'['.repeat(200)}${']'.repeat(200)}`
  test.each([
    ['no JSON', '{"id":', 'invalid_argument'],
    ['nothing', '', 'invalid_argument'],
    ['a number', '7', 'invalid_argument'],
    ['a list', '[]', 'invalid_argument'],
    ['no id', '{"method":"run.start"}', 'invalid_argument'],
    ['an unknown command', '{"id":900,"method":"run.stop"}', 'unknown_command'],
    ['too deep', `{"id":900,"method":"run.start","params":{"input":${deep}}}`, 'invalid_argument'],
    ['no UTF-8', new Uint8Array([0xff, 0xfe]), 'invalid_argument'],
    [
      'a filter without channels',
      '{"id":900,"method":"subscription.subscribe","params":{}}',
      'invalid_argument',
    ],
    ['a bare filter that is none', '{"channels":7}', 'invalid_argument'],
    ['a bare filter of unknown channels', '{"channels":["message"]}', 'invalid_argument'],
  ])('is answered with an error, changes nothing, and ends nothing: %s', async (_, message, error) => {
    const host = await serve()
    const socket = await openSocket(socketUrl(host.origin, 't'))
    socket.send(message)
    await eventually(() => socket.received.length > 0, { what: 'The answer' })
    expect(socket.received).toMatchObject([{ type: 'error', error, message: expect.any(String) }])
    expect((await host.thread('t').get('')).status).toBe(404)
    expect((await socket.command('subscription.subscribe', { channels: ALL_CHANNELS })).type).toBe('success')
  })

  test('gets an answer of the protocol, whatever it is', async () => {
    const host = await serve()
    const socket = await openSocket(socketUrl(host.origin, 't'))
    const methods = [
      'run.start',
      'state.get',
      'subscription.subscribe',
      'subscription.unsubscribe',
      'subscription.reconnect',
      'x',
    ]
    const command = fc.record(
      { id: fc.jsonValue(), method: fc.constantFrom(...methods), params: fc.jsonValue() },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.json(),
          command.map((value) => JSON.stringify(value)),
        ),
        async (text) => {
          const before = socket.received.filter(({ type }) => type !== 'event').length
          socket.send(text)
          await eventually(() => socket.received.filter(({ type }) => type !== 'event').length > before, {
            what: text,
          })
          expect(['success', 'error']).toContain(
            socket.received.findLast(({ type }) => type !== 'event').type,
          )
        },
      ),
      { numRuns: 200 },
    )
  })
})

test('a message that is too long ends its socket with 1009, and no other', async () => {
  const host = await serve()
  const [big, other] = await Promise.all([
    openSocket(socketUrl(host.origin, 't')),
    openSocket(socketUrl(host.origin, 't')),
  ])
  big.send({ id: 1, method: 'run.start', params: { assistant_id: 'a', input: 'x'.repeat(MAX_BODY) } })
  expect((await big.closed)[0]).toBe(1009)
  expect((await other.command('state.get', {})).error).toBe('no_such_run')
  expect((await host.thread('t').get('')).status).toBe(404)
})

test('a message in fragments and one in binary are read', async () => {
  const host = await serve()
  const socket = await openSocket(socketUrl(host.origin, 't'))
  const message = JSON.stringify({ id: 1, method: 'run.start', params: { assistant_id: 'a', input: {} } })
  socket.socket.send(message.slice(0, 20), { fin: false })
  socket.socket.send(message.slice(20), { fin: true })
  socket.send(
    new TextEncoder().encode(
      '{"id":2,"method":"subscription.subscribe","params":{"channels":["lifecycle"]}}',
    ),
  )
  await socket.until(ended())
  expect(socket.received.filter(({ type }) => type === 'success').map(({ id }) => id)).toEqual([1, 2])
})

test('ten thousand subscriptions: the first 256 are taken, the others refused, and the rest of the server goes on', async () => {
  const host = await serve()
  const socket = await openSocket(socketUrl(host.origin, 't'))
  for (let from = 0; from < 10_000; from += 500) {
    for (let id = from; id < from + 500; id++)
      socket.send({ id, method: 'subscription.subscribe', params: { channels: ['lifecycle'] } })
    await eventually(() => socket.received.length >= from + 500, { what: 'The answers' })
  }
  const types = socket.received.map(({ type }) => type)
  expect(types.filter((type) => type === 'success')).toHaveLength(256)
  expect(types.filter((type) => type === 'error')).toHaveLength(9_744)
  await host.thread('t').start()
  const events = await socket.until(ended())
  expect(events.map(({ seq }) => seq)).toEqual([...new Set(events.map(({ seq }) => seq))])
})

test('a flood that is not answered in time ends its socket with 1008', async () => {
  const host = await serve()
  const socket = await openSocket(socketUrl(host.origin, 't'))
  for (let id = 0; id < 20_000; id++) socket.send({ id, method: 'state.get', params: {} })
  const [code] = await Promise.race([
    socket.closed,
    eventually(() => socket.received.length === 20_000, { what: 'All answers' }).then(() => [0] as const),
  ])
  // A fast server may answer all of them.
  expect([0, 1008]).toContain(code)
  expect((await host.thread('t').get('')).status).toBe(404)
})

test('bytes that are no web socket change nothing', async () => {
  const host = await serve()
  const { port } = new URL(host.origin)
  for (const bytes of ['\xff\xff\xff\xff\xff\xff', '\x81\x05hello', '\x8f\x80aaaa', '\xc1\x80aaaa']) {
    const socket = connect({ port: Number(port), host: '127.0.0.1' })
    socket.write(
      'GET /threads/t/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
        'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    socket.on('error', () => {})
    socket.once('data', () => socket.write(bytes, 'latin1'))
    await new Promise((resolve) => socket.once('close', resolve))
  }
  expect((await host.thread('t').get('')).status).toBe(404)
})

test('a request that offers HTTP/2 is answered as one without an upgrade, with its body', async () => {
  const host = await serve()
  const { port } = new URL(host.origin)
  const body = JSON.stringify({ id: 1, method: 'run.start', params: { assistant_id: 'a', input: {} } })
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  socket.write(
    'POST /threads/t/commands HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\n' +
      `http2-settings: AAMAAABk\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  )
  setTimeout(() => socket.write(body.slice(10)), 20)
  const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
  socket.destroy()
  expect(answer).toContain('HTTP/1.1 200')
  expect(answer).toContain('"type":"success"')
})

test('a thousand sockets, stalled ones among them: every other one gets every event once, in order', {
  timeout: 240_000,
}, async () => {
  const host = await serveAgents({ agents })
  const sockets = []
  for (let i = 0; i < 1_000; i += 50) {
    sockets.push(
      ...(await Promise.all(Array.from({ length: 50 }, () => openSocket(socketUrl(host.origin, 't'))))),
    )
  }
  await Promise.all(
    sockets.map((socket) => socket.command('subscription.subscribe', { channels: ALL_CHANNELS })),
  )
  const stalled = sockets.filter((_, i) => i % 20 === 0)
  const reading = sockets.filter((_, i) => i % 20 !== 0)
  for (const { socket } of stalled) socket.pause()
  await host.thread('t').start({ count: 200, size: 200 })
  await Promise.all(reading.map((socket) => socket.until(ended())))
  const all = Array.from({ length: reading[0]!.events.length }, (_, i) => i + 1)
  for (const { events } of reading) expect(events.map(({ seq }) => seq)).toEqual(all)
  for (const { socket } of stalled) socket.resume()
  await Promise.all(stalled.map((socket) => socket.until(ended())))
  for (const { events } of stalled) expect(events.map(({ seq }) => seq)).toEqual(all)
})
