import { expect, test, vi } from 'vitest'
import { textFrame } from '../../src/http/sockets/frames.ts'
import { upgrading } from '../../src/http/sockets/native.ts'
import { type SocketPeer, socketResponse } from '../../src/http/sockets/socket.ts'

test('a socket that does not tell what waits ends once it has carried its share', async ({
  onTestFinished,
}) => {
  const closes: number[] = []
  const ended = vi.fn()
  let peer: SocketPeer | undefined
  const socket = {
    accept() {},
    send() {},
    close: (code: number) => closes.push(code),
    addEventListener() {},
  }
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
    close: ended,
  })
  // Node has no response of the status 101.
  vi.stubGlobal('Response', class {})
  const answer = async () => response
  await upgrading({ routes: [], handle: answer, fetch: answer, close: async () => {} }).fetch(
    new Request('http://localhost/'),
  )
  const frame = textFrame('x'.repeat(1024 * 1024))
  for (let sent = 0; sent < 63; sent++) expect(peer!.send(frame)).toBe(true)
  expect(closes).toEqual([])
  peer!.send(frame)
  expect([closes, ended.mock.calls.length]).toEqual([[4413], 1])
})
