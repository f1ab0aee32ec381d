import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type Served, serve } from '../../../adapters/node.ts'
import { createAgentServer, type ServerOptions } from '../../../src/index.ts'
import { errorMessage, unexpectedErrors } from '../../kit/errors.ts'
import type { Json } from '../../kit/events.ts'
import { readFrames } from '../../kit/frames.ts'
import { tckAgent } from '../tck/agent.ts'

export interface Reply {
  readonly status: number
  readonly contentType: string
  /** The JSON-RPC answer. */
  readonly body: Json
}

/** Another party of the protocol, which knows nothing of this library: it sends JSON and reads what comes. */
export interface Peer {
  readonly url: string
  post(body: string, headers?: Readonly<Record<string, string>>): Promise<Reply>
  call(method: string, params: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>
  /** The answers of a stream, each one JSON-RPC answer. Where the answer is no stream, it is the only item. */
  stream(method: string, params: unknown, headers?: Readonly<Record<string, string>>): Promise<PeerStream>
}

export interface PeerStream extends AsyncIterable<Json> {
  readonly contentType: string
  /** Leaves before the end. */
  leave(): void
}

/** The agent whose behaviour the id of a message chooses, behind a real server. `close` fails where an error was reported. */
export async function serveAgent(
  pauseMs: number,
  a2a?: ServerOptions['a2a'],
): Promise<Pick<Served, 'origin' | 'close'>> {
  const { errors, reporters } = unexpectedErrors()
  const server = createAgentServer({ agents: { tck: tckAgent(pauseMs) }, a2a, errorMessage, ...reporters })
  const { origin, close } = await serve(server, { port: 0, silent: true })
  return {
    origin,
    async close() {
      await close()
      expect(errors).toEqual([])
    },
  }
}

export function peerOf(url: string, always: Readonly<Record<string, string>> = {}): Peer {
  const send = (body: string, headers = {}, signal?: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...always, ...headers },
      body,
      signal: signal ?? null,
    })
  const request = (method: string, params: unknown) =>
    JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), method, params })
  const typeOf = (response: Response) => response.headers.get('content-type') ?? ''
  const post: Peer['post'] = async (body, headers) => {
    const response = await send(body, headers)
    return { status: response.status, contentType: typeOf(response), body: await response.json() }
  }
  return {
    url,
    post,
    call: (method, params, headers) => post(request(method, params), headers),
    async stream(method, params, headers = {}) {
      const leaving = new AbortController()
      const accept = { accept: 'text/event-stream' }
      const response = await send(request(method, params), { ...headers, ...accept }, leaving.signal)
      const contentType = typeOf(response)
      return {
        contentType,
        leave: () => leaving.abort(),
        [Symbol.asyncIterator]: () => answers(response, contentType.startsWith('text/event-stream')),
      }
    },
  }
}

async function* answers(response: Response, streamed: boolean): AsyncGenerator<Json> {
  if (!streamed) return yield await response.json()
  for await (const { frames } of readFrames(response.body!))
    for (const { data } of frames) yield JSON.parse(data)
}

export async function all(stream: AsyncIterable<Json>): Promise<Json[]> {
  const items: Json[] = []
  for await (const item of stream) items.push(item)
  return items
}

/** A message id that makes the agent behave so. */
export const like = (behaviour: string): string => `tck-${behaviour}-${randomUUID()}`
