import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { defineAgent } from '../../src/index.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { serveAgents } from '../kit/host.ts'
import {
  BINARY,
  CONTINUATION,
  clientFrame,
  closeCode,
  openRaw,
  PING,
  PONG,
  serverFrames,
  TEXT,
} from '../kit/raw-socket.ts'
import { openSocket, socketUrl } from '../kit/socket.ts'
import { eventually, gate, turns } from '../kit/wait.ts'

const agents = {
  a: defineAgent({
    async run({ custom }) {
      await custom({ name: 'tick', payload: 1 })
    },
  }),
}

const subscribe = (id: number) =>
  JSON.stringify({ id, method: 'subscription.subscribe', params: { channels: ALL_CHANNELS } })
const UPGRADED = /^HTTP\/1\.1 101 /

describe('a handshake', () => {
  test('that is refused ends its connection, also where the client leaves its side open', async () => {
    const host = await serveAgents({ agents, authenticate: () => null })
    const peer = openRaw(socketUrl(host.origin, 't'))
    await peer.closed
    expect(String(peer.received())).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('whose messages come with it is read to the end', async () => {
    const { opened, open } = gate()
    const host = await serveAgents({
      agents,
      authenticate: async () => {
        await opened
        return { id: 'one' }
      },
    })
    const peer = openRaw(socketUrl(host.origin, 't'))
    peer.write(Buffer.concat([1, 2, 3].map((id) => clientFrame(TEXT, subscribe(id)))))
    await turns(20)
    open()
    await eventually(() => serverFrames(peer.received()).length === 3)
    const answers = serverFrames(peer.received()).map(({ payload }) => JSON.parse(String(payload)).id)
    expect(answers).toEqual([1, 2, 3])
  })

  test.each([
    ['cuts the connection', (peer: ReturnType<typeof openRaw>) => peer.socket.destroy()],
    ['resets the connection', (peer: ReturnType<typeof openRaw>) => peer.socket.resetAndDestroy()],
    ['ends its side', (peer: ReturnType<typeof openRaw>) => peer.socket.end()],
  ])('of a client that %s while it is authenticated leaves nothing behind', async (_, leave) => {
    const { opened, open } = gate()
    let asked = 0
    const host = await serveAgents({
      agents,
      authenticate: async () => {
        asked += 1
        await opened
        return { id: 'one' }
      },
    })
    const peers = Array.from({ length: 20 }, () => openRaw(socketUrl(host.origin, 't')))
    for (const peer of peers) peer.write(clientFrame(TEXT, subscribe(1)))
    await eventually(() => asked === 20)
    for (const peer of peers) leave(peer)
    await turns(20)
    open()
    await Promise.all(peers.map(({ closed }) => closed))
    await eventually(async () => (await host.server.engine.measure()).subscribers === 0, {
      timeoutMs: 200_000,
    })
    const after = await openSocket(socketUrl(host.origin, 't'))
    expect((await after.command('subscription.subscribe', { channels: ALL_CHANNELS })).type).toBe('success')
  })

  test('is a GET: on another request the header means nothing', async () => {
    const host = await serveAgents({ agents })
    const { hostname, port } = new URL(host.origin)
    const body = JSON.stringify({ id: 1, method: 'run.start', params: { assistant_id: 'a', input: {} } })
    const socket = connect({ host: hostname, port: Number(port) })
    socket.write(
      `POST /threads/t/commands HTTP/1.1\r\nhost: ${hostname}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const answer = await new Promise<string>((resolve) =>
      socket.once('data', (data) => resolve(String(data))),
    )
    socket.destroy()
    expect(answer).toContain('"type":"success"')
  })

  test.each([
    ['no version', { 'sec-websocket-version': '' }],
    ['an old version', { 'sec-websocket-version': '7' }],
    ['no key', { 'sec-websocket-key': '' }],
    ['a short key', { 'sec-websocket-key': 'AAAA' }],
  ])('with %s is refused by 4xx, and changes nothing', async (_, headers) => {
    const host = await serveAgents({ agents })
    const peer = openRaw(socketUrl(host.origin, 't'), headers)
    await peer.closed
    expect(String(peer.received())).toMatch(/^HTTP\/1\.1 4\d\d /)
  })
})

describe('the subprotocols of a handshake', () => {
  const authenticate = (request: Request) => {
    const header = request.headers.get('authorization')
    return header === null ? { id: 'nobody' } : { id: header }
  }

  test.each([
    ['bearer.%0d%0ax-admin:1', 400],
    ['bearer.a%00b', 400],
    ['bearer.%E2%82%AC', 400],
    ['bearer.%', 101],
    ['bearer.', 101],
    ['bearer.a, bearer.b, agentwire', 101],
    ['a, a', 400],
    ['a,,b', 400],
    [', ,', 400],
    ['"quoted"', 400],
    ['a b', 400],
    [Array.from({ length: 500 }, (_, i) => `n${i}`).join(','), 101],
  ])('are chosen or refused: %.40s', async (offered, status) => {
    const host = await serveAgents({ agents, authenticate })
    const peer = openRaw(socketUrl(host.origin, 't'), { 'sec-websocket-protocol': offered })
    await eventually(() => peer.received().includes('\r\n\r\n'))
    const head = String(peer.received())
    expect(head.slice(0, 13)).toBe(`HTTP/1.1 ${status} `)
    expect(head).not.toMatch(/^x-admin/im)
  })

  test('are left to others where the path is of others', async () => {
    const host = await serveAgents({ agents, authenticate })
    const headers = { 'sec-websocket-protocol': 'bearer.%0a' }
    const peer = openRaw(`${host.origin.replace('http', 'ws')}/elsewhere`, headers)
    await peer.closed
    expect(String(peer.received())).toMatch(/^HTTP\/1\.1 404 /)
  })
})

describe('frames', () => {
  test.each([
    ['a compressed one', clientFrame(TEXT, 'abc', { rsv1: true }), 1002],
    ['a continuation of nothing', clientFrame(CONTINUATION, 'abc'), 1002],
    [
      'a text within a text',
      Buffer.concat([clientFrame(TEXT, 'a', { fin: false }), clientFrame(TEXT, 'b')]),
      1002,
    ],
    ['an opcode that is none', clientFrame(3), 1002],
    ['a ping in fragments', clientFrame(PING, 'a', { fin: false }), 1002],
    ['a long ping', clientFrame(PING, 'x'.repeat(126)), 1002],
    ['no mask', Buffer.from([0x81, 0x02, 0x7b, 0x7d]), 1002],
    ['a length beyond all', Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), 1009],
    ['a length of four gigabytes', Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), 1009],
    ['a text that is no UTF-8', clientFrame(TEXT, Buffer.from([0xff, 0xfe])), 1007],
  ])('%s ends its socket, and no other', async (_, bytes, code) => {
    const host = await serveAgents({ agents })
    const other = await openSocket(socketUrl(host.origin, 't'))
    const peer = openRaw(socketUrl(host.origin, 't'))
    peer.write(clientFrame(TEXT, subscribe(1)))
    peer.write(bytes)
    await eventually(() => closeCode(peer.received()) !== undefined)
    expect(closeCode(peer.received())).toBe(code)
    peer.socket.end()
    await peer.closed
    await eventually(async () => (await host.server.engine.measure()).subscribers === 0)
    expect((await other.command('state.get', {})).error).toBe('no_such_run')
  })

  test('are never compressed, whatever a client offers', async () => {
    const host = await serveAgents({ agents })
    const headers = { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' }
    const peer = openRaw(socketUrl(host.origin, 't'), headers)
    await eventually(() => peer.received().includes('\r\n\r\n'))
    expect(String(peer.received())).toMatch(UPGRADED)
    expect(String(peer.received())).not.toMatch(/sec-websocket-extensions/i)
  })

  test('of a message in ten thousand fragments are read, and pings between them are answered', async () => {
    const host = await serveAgents({ agents })
    const peer = openRaw(socketUrl(host.origin, 't'))
    const text = subscribe(1).padEnd(10_000)
    const frames = [...text].map((letter, i) =>
      clientFrame(i === 0 ? TEXT : CONTINUATION, letter, { fin: i === text.length - 1 }),
    )
    frames.splice(5_000, 0, clientFrame(PING, 'mid'))
    peer.write(Buffer.concat(frames))
    await eventually(() => serverFrames(peer.received()).length === 2)
    const [first, second] = serverFrames(peer.received())
    expect([first!.opcode, String(first!.payload)]).toEqual([PONG, 'mid'])
    expect(JSON.parse(String(second!.payload))).toMatchObject({ type: 'success', id: 1 })
  })

  test('of a message that never ends are bounded', async () => {
    const host = await serveAgents({ agents })
    const peer = openRaw(socketUrl(host.origin, 't'))
    const some = Buffer.concat(
      Array.from({ length: 1_000 }, () => clientFrame(CONTINUATION, 'x', { fin: false })),
    )
    peer.write(clientFrame(BINARY, 'x', { fin: false }))
    for (let sent = 0; sent < 1_000 && closeCode(peer.received()) === undefined; sent++) {
      peer.write(some)
      await turns(2)
    }
    expect([1008, 1009]).toContain(closeCode(peer.received()))
  })

  test('a flood of pings is answered by the newest, and fills nothing where nobody reads', async () => {
    const host = await serveAgents({ agents })
    const peer = openRaw(socketUrl(host.origin, 't'))
    await eventually(() => peer.received().length > 0)
    peer.socket.pause()
    const some = Buffer.concat(Array.from({ length: 1_000 }, () => clientFrame(PING, 'x'.repeat(125))))
    for (let sent = 0; sent < 300; sent++) {
      if (!peer.socket.write(some)) await new Promise((resolve) => peer.socket.once('drain', resolve))
    }
    peer.write(clientFrame(PING, 'last'))
    const waiting = Math.max(...host.connections().map(({ writableLength }) => writableLength))
    expect(waiting).toBeLessThan(100_000)
    peer.socket.resume()
    await eventually(() => String(serverFrames(peer.received()).at(-1)?.payload) === 'last')
  })
})
