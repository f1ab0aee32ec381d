import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createParser } from 'eventsource-parser'
import { expect, onTestFinished } from 'vitest'
import { toNode } from '../../adapters/node.ts'
import { createAgentServer, type ServerOptions, type WebHandler } from '../../src/index.ts'

export const ALL = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
] as const

/** A server of agents behind a real socket. Closed when the test ends, which fails if the server reported an error nobody took. */
export interface Host {
  readonly origin: string
  readonly server: WebHandler
  /** What `onError` was told. */
  readonly errors: unknown[]
  /** Cuts every connection, as a proxy or a lost network does. */
  cut(): void
  thread(id?: string, headers?: Readonly<Record<string, string>>): ThreadClient
}

export async function serveAgents(options: ServerOptions): Promise<Host> {
  const errors: unknown[] = []
  const server = createAgentServer({ ...options, onError: (error) => errors.push(error) })
  const sockets = new Set<Socket>()
  // Errors of the transport are the streams that the tests break.
  const http = createServer(toNode(server, { onError() {} }))
  http.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(async () => {
    await server.close()
    cut()
    await new Promise((resolve) => http.close(resolve))
    expect(errors).toEqual([])
  })
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  let made = 0
  return {
    origin,
    server,
    errors,
    cut,
    thread: (id = `thread-${++made}`, headers = {}) => threadClient(origin, id, headers),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Json = any

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

/** One thread, as a client without a library speaks to it. */
export interface ThreadClient {
  readonly id: string
  request(method: string, path: string, body?: unknown): Promise<Answer>
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown): Promise<Answer>
  /** Sends a command. Checks what every answer to a command must be. */
  command(method: string, params?: unknown): Promise<Json>
  /** The result of a command that must succeed. */
  ok(method: string, params?: unknown): Promise<Json>
  /** The error code of a command that must be refused. */
  refused(method: string, params?: unknown): Promise<string>
  /** Starts a run and gives its id. */
  start(input?: unknown, params?: Readonly<Record<string, unknown>>): Promise<string>
  stream(
    filter?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Stream>
  /** The thread's events so far and on, until `runs` root runs have ended. */
  transcript(runs?: number): Promise<WireEvent[]>
  /** Settles when no run holds the thread. */
  idle(): Promise<Json>
}

export async function request(
  origin: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(origin + path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

function threadClient(origin: string, id: string, headers: Readonly<Record<string, string>>): ThreadClient {
  const base = `/threads/${encodeURIComponent(id)}`
  let commands = 0
  const send = (method: string, path: string, body?: unknown) =>
    request(origin, method, base + path, body, headers)

  async function command(method: string, params?: unknown): Promise<Json> {
    const commandId = ++commands
    const { status, body } = await send('POST', '/commands', { id: commandId, method, params })
    expect(status).toBe(200)
    expect(body.id).toBe(commandId)
    if (body.type === 'error')
      expect(body).toMatchObject({ error: expect.any(String), message: expect.any(String) })
    else expect(body).toMatchObject({ type: 'success', result: expect.any(Object), meta: { thread_id: id } })
    return body
  }

  async function ok(method: string, params?: unknown): Promise<Json> {
    const answer = await command(method, params)
    expect(answer).toMatchObject({ type: 'success' })
    return answer.result
  }

  const stream: ThreadClient['stream'] = (filter = {}, more = {}) =>
    openStream(`${origin}${base}/stream/events`, { channels: ALL, ...filter }, { ...headers, ...more })

  return {
    id,
    request: send,
    get: (path) => send('GET', path),
    post: (path, body = {}) => send('POST', path, body),
    command,
    ok,
    async refused(method, params) {
      const answer = await command(method, params)
      expect(answer).toMatchObject({ type: 'error' })
      return answer.error
    },
    start: async (input = {}, params = {}) => (await ok('run.start', { input, ...params })).run_id,
    stream,
    async transcript(runs = 1) {
      const all = await stream({ since: 0 })
      return all.until((events) => events.filter(isTerminal).length >= runs)
    },
    async idle() {
      const events = await stream({ channels: ['lifecycle'] })
      await events.until((seen) => seen.some(isTerminal))
      events.close()
      return (await send('GET', '/state')).body
    },
  }
}

export interface WireEvent {
  readonly type: 'event' | 'gap'
  readonly event_id: string
  readonly seq: number
  readonly method: string
  readonly params: {
    readonly namespace: string[]
    readonly timestamp: number
    readonly node?: string
    readonly data: Json
  }
}

export interface Frame {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string
}

/** An open event stream that takes in all that comes. */
export interface Stream {
  readonly response: Response
  readonly events: WireEvent[]
  readonly frames: Frame[]
  readonly comments: string[]
  /** Settles with all events so far as soon as `done` holds of them. Rejects when the stream ends before. */
  until(done: (events: readonly WireEvent[]) => boolean): Promise<WireEvent[]>
  /** How the stream ended. */
  readonly ended: Promise<'clean' | 'broken'>
  close(): void
}

export async function openStream(
  url: string,
  filter: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Stream> {
  const leave = new AbortController()
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify(filter),
    signal: leave.signal,
  })
  expect(response.status).toBe(200)
  const events: WireEvent[] = []
  const frames: Frame[] = []
  const comments: string[] = []
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const look of [...waiting]) look()
  }
  const parser = createParser({
    onEvent({ id, event, data }) {
      frames.push({ id, event, data })
      events.push(JSON.parse(data))
    },
    onComment: (comment) => comments.push(comment),
  })
  let over = false
  const read = async (): Promise<'clean' | 'broken'> => {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body!) {
        parser.feed(decoder.decode(chunk, { stream: true }))
        wake()
      }
      return 'clean'
    } catch {
      return 'broken'
    } finally {
      over = true
      wake()
    }
  }
  const ended = read()
  const close = () => leave.abort()
  onTestFinished(close)
  return {
    response,
    events,
    frames,
    comments,
    ended,
    close,
    until: (done) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (done(events)) resolve([...events])
          else if (over) reject(new Error(`The stream ended early: ${JSON.stringify(events)}`))
          else return
          waiting.delete(look)
        }
        waiting.add(look)
        look()
      }),
  }
}

const TERMINAL = new Set(['completed', 'failed', 'interrupted'])

export const isRoot = (event: WireEvent): boolean =>
  event.method === 'lifecycle' && event.params.namespace.length === 0

export const isTerminal = (event: WireEvent): boolean =>
  isRoot(event) && TERMINAL.has(event.params.data.event)

/** The root states in the order they were told: `running`, `completed`, … */
export const rootStates = (events: readonly WireEvent[]): string[] =>
  events.filter(isRoot).map((event) => event.params.data.event)

export const dataOf = (events: readonly WireEvent[], method: string): Json[] =>
  events.filter((event) => event.method === method).map((event) => event.params.data)

/** A promise that the test settles. */
export function signpost(): { readonly reached: Promise<void>; readonly reach: () => void } {
  let reach = () => {}
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  return { reached, reach }
}
