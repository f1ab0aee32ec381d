import { onTestFinished } from 'vitest'
import WebSocket, { type ClientOptions } from 'ws'
import type { Json, WireEvent } from './events.ts'

/** A web socket of a client without a library, which keeps all it receives. */
export interface TestSocket {
  readonly socket: WebSocket
  /** Everything that was received, in order. */
  readonly received: Json[]
  readonly events: WireEvent[]
  send(message: unknown): void
  /** Sends a command and gives its answer. */
  command(method: string, params?: unknown): Promise<Json>
  /** Settles with the events so far as soon as `done` holds of them. Rejects when the socket ends before. */
  until(done: (events: readonly WireEvent[]) => boolean): Promise<WireEvent[]>
  /** The code and the reason with which the socket ended. */
  readonly closed: Promise<readonly [code: number, reason: string]>
}

export const socketUrl = (origin: string, threadId: string): string =>
  `${origin.replace(/^http/, 'ws')}/threads/${encodeURIComponent(threadId)}/stream/events`

export async function openSocket(
  url: string,
  options: ClientOptions & { readonly protocols?: string[] } = {},
): Promise<TestSocket> {
  const socket = new WebSocket(url, options.protocols ?? [], options)
  onTestFinished(() => socket.terminate())
  const received: Json[] = []
  const events: WireEvent[] = []
  const waiting = new Set<() => void>()
  let over: readonly [number, string] | undefined
  const look = () => {
    for (const wake of [...waiting]) wake()
  }
  const closed = new Promise<readonly [number, string]>((resolve) => {
    socket.on('close', (code, reason) => {
      over = [code, String(reason)]
      resolve(over)
      look()
    })
  })
  socket.on('message', (data, isBinary) => {
    // An assertion for each of many frames would take longer than to read them.
    if (isBinary) throw new Error('A binary frame came.')
    const message = JSON.parse(String(data))
    received.push(message)
    if (message.type === 'event') events.push(message)
    look()
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  const settle = <T>(found: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const check = () => {
        const value = found()
        if (value !== undefined) resolve(value)
        else if (over) reject(new Error(`The socket ended: ${over} after ${JSON.stringify(received)}`))
        else return
        waiting.delete(check)
      }
      waiting.add(check)
      check()
    })
  let id = 0
  const send = (message: unknown) =>
    socket.send(
      typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message),
    )
  return {
    socket,
    received,
    events,
    closed,
    send,
    command(method, params) {
      const own = ++id
      send({ id: own, method, params })
      return settle(() => received.find((message) => message.id === own))
    },
    until: (done) => settle(() => (done(events) ? [...events] : undefined)),
  }
}

/** The status of a handshake that is refused, and the body of the answer. */
export function refusedSocket(
  url: string,
  options: ClientOptions & { readonly protocols?: string[] } = {},
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, options.protocols ?? [], options)
    socket.on('error', () => {})
    socket.on('open', () => {
      socket.terminate()
      reject(new Error('The socket opened.'))
    })
    socket.on('unexpected-response', (_, response) => {
      let body = ''
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode!, body }))
    })
  })
}
