import { expect, onTestFinished } from 'vitest'
import { ALL_CHANNELS } from './channels.ts'
import { isTerminal, type Json, type WireEvent } from './events.ts'
import { type Frame, readFrames } from './frames.ts'

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
  /** The thread's events from the first on, until `runs` root runs have ended. */
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
    body: text === '' ? undefined : isSse(response) ? text : JSON.parse(text),
  }
}

const isSse = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false

/** Sends a command. A refusal is an answer and not an error. */
export const sendCommand = (
  origin: string,
  threadId: string,
  method: string,
  params?: unknown,
  {
    id = 1,
    headers = {},
  }: { readonly id?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> =>
  request(
    origin,
    'POST',
    `/threads/${encodeURIComponent(threadId)}/commands`,
    { id, method, params },
    headers,
  )

export function threadClient(
  origin: string,
  id: string,
  headers: Readonly<Record<string, string>>,
): ThreadClient {
  const base = `/threads/${encodeURIComponent(id)}`
  let commands = 0
  const send = (method: string, path: string, body?: unknown) =>
    request(origin, method, base + path, body, headers)

  async function command(method: string, params?: unknown): Promise<Json> {
    const commandId = ++commands
    const { status, body } = await sendCommand(origin, id, method, params, { id: commandId, headers })
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
    openStream(
      `${origin}${base}/stream/events`,
      { channels: ALL_CHANNELS, ...filter },
      { ...headers, ...more },
    )

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

/** An open event stream that keeps all it receives. */
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
  let over = false
  const read = async (): Promise<'clean' | 'broken'> => {
    try {
      for await (const piece of readFrames(response.body!)) {
        frames.push(...piece.frames)
        comments.push(...piece.comments)
        events.push(...piece.frames.map(({ data }) => JSON.parse(data) as WireEvent))
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
