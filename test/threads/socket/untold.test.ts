import { expect, onTestFinished, test, vi } from 'vitest'
import { textFrame, upgrading } from '../../../src/core/http/sockets/native.ts'
import { type SocketPeer, type SocketSession, socketResponse } from '../../../src/core/http/sockets/socket.ts'

/** What a session is given on Workers, whose socket is `socket`. */
async function peerOf(
  socket: object,
  { close = () => {} }: Partial<Pick<SocketSession, 'close'>> = {},
): Promise<SocketPeer> {
  let peer: SocketPeer | undefined
  class WebSocketPair {
    0 = socket
    1 = socket
  }
  vi.stubGlobal('WebSocketPair', WebSocketPair)
  onTestFinished(() => void vi.unstubAllGlobals())
  const response = socketResponse({
    protocol: undefined,
    maxMessageBytes: 1,
    open(opened) {
      peer = opened
    },
    message() {},
    drain() {},
    close,
  })
  // Node has no response of the status 101.
  vi.stubGlobal('Response', class {})
  const answer = async () => response
  await upgrading({ routes: async () => [], handle: answer, fetch: answer, close: async () => {} }).fetch(
    new Request('http://localhost/'),
  )
  return peer!
}

test('a socket that does not tell what waits ends once it has carried its share', async () => {
  const closes: number[] = []
  const ended = vi.fn()
  const socket = {
    accept() {},
    send() {},
    close: (code: number) => closes.push(code),
    addEventListener() {},
  }
  const peer = await peerOf(socket, { close: ended })
  const frame = textFrame('x'.repeat(1024 * 1024))
  for (let sent = 0; sent < 63; sent++) expect(peer.send(frame)).toBe(true)
  expect(closes).toEqual([])
  peer.send(frame)
  expect([closes, ended.mock.calls.length]).toEqual([[4413], 1])
})

test('a socket that takes only the codes of programs gets those that say the same', async () => {
  const closes: number[] = []
  const socket = {
    accept() {},
    addEventListener() {},
    close(code: number) {
      if (code < 3000) throw new DOMException('Only 1000 and 3000 to 4999.', 'InvalidAccessError')
      closes.push(code)
    },
  }
  const peer = await peerOf(socket)
  for (const code of [1001, 1012, 1009, 1008, 1011, 4404]) peer.close(code, '')
  expect(closes).toEqual([4503, 4503, 4413, 4429, 4500, 4404])
})
