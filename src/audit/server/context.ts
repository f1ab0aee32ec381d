import { AuditError, equal, hold } from '../check.ts'
import { ALL, at, resultOf, type WireEvent } from './events.ts'
import { type AuditSocket, openSocket, type WebSocketFactory } from './socket.ts'
import { type AuditStream, isStream, readStream } from './stream.ts'

/** Assistants that some rules need. A rule whose assistant is missing is skipped. */
export interface AuditedAgents {
  /** Raises one interrupt, with any payload, and completes after any response. */
  readonly interrupt?: string | undefined
  /** Streams a message for one to three seconds, unless it is cancelled. */
  readonly slow?: string | undefined
  /** Throws, so that its run fails. */
  readonly failing?: string | undefined
  /** Sends custom events, at least one of them with a name. */
  readonly custom?: string | undefined
  /** Calls a tool. */
  readonly tools?: string | undefined
  /** Has a subagent or subgraph, so that its run has events at least two namespaces deep. */
  readonly nested?: string | undefined
}

/** The context of a rule: a running server, and unused threads. */
export interface AuditContext {
  /** The assistant that answers with a message. */
  readonly assistantId: string | undefined
  readonly agents: AuditedAgents
  /** A run input that contains `text`. */
  readonly input: (text: string) => unknown
  /** A thread that does not exist yet. Default assistant: `assistantId`. Deleted after the audit. */
  thread(assistantId?: string, id?: string): AuditThread
  request(method: string, path: string, sent?: Sent): Promise<Answer>
  /** The stream route below a thread, such as `/stream`. */
  readonly streamPath: string
  /** Fires when the audit has timed out. */
  readonly signal: AbortSignal
}

export interface Sent {
  /** Sent as JSON. A string is sent unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed JSON body, or the text of a body that is not JSON. */
  readonly body: unknown
}

/** One thread, used through plain requests without a client library. */
export type AuditThread = ReturnType<typeof threadOf>

export interface StreamOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Relative to the thread. Default: `streamPath` of the options. */
  readonly path?: string | undefined
}

export interface Transcript {
  readonly events: readonly WireEvent[]
  readonly stream: AuditStream
  readonly runIds: readonly string[]
}

export interface AuditContextOptions extends Omit<AuditContext, 'thread' | 'request'> {
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: typeof fetch
  readonly webSocketFactory: WebSocketFactory | undefined
}

const POLL_MS = 20

/** Opens the context of one audit. `close` deletes the threads that it created. */
export function openAuditContext(options: AuditContextOptions): {
  readonly audit: AuditContext
  clear(): Promise<void>
} {
  const { assistantId, input, signal, streamPath } = options
  const base = options.baseUrl.replace(/(?<!\/)\/+$/, '')
  const made = new Set<string>()
  const open = new Set<AbortController>()
  // A single listener, because runtimes warn about signals with many listeners.
  const closeAll = () => {
    for (const leave of open) leave.abort()
  }
  signal.addEventListener('abort', closeAll, { once: true })
  const leaveOf = (): AbortController => {
    signal.throwIfAborted()
    const leave = new AbortController()
    open.add(leave)
    return leave
  }
  const send = (method: string, path: string, sent: Sent, within: AbortSignal): Promise<Response> =>
    sendTo({ ...options, base }, method, path, sent, within)
  const request: AuditContext['request'] = async (method, path, sent = {}) =>
    answerOf(await send(method, path, sent, signal))

  function thread(agent = assistantId, id: string = crypto.randomUUID()): AuditThread {
    const path = `/threads/${encodeURIComponent(id)}`
    made.add(path)
    return threadOf({
      id,
      assistantId: agent,
      input,
      signal,
      request: (method, below, sent) => request(method, path + below, sent),
      async open(body, more) {
        const leave = leaveOf()
        const sent = { body, headers: { accept: 'text/event-stream', ...more.headers } }
        const response = await send('POST', path + (more.path ?? streamPath), sent, leave.signal)
        isStream(response)
        return readStream(response, leave)
      },
      openSocket: async (more) => {
        const leave = leaveOf()
        const url = base.replace(/^http/, 'ws') + path + (more.path ?? streamPath)
        return openSocket(options.webSocketFactory!, url, more.headers ?? options.headers, leave)
      },
    })
  }

  async function clear(): Promise<void> {
    // After a timeout the server may not respond, so cleanup waits no longer than this.
    const within = AbortSignal.timeout(2_000)
    const remove = async (path: string) => {
      const response = await send('DELETE', path, {}, within)
      await response.body?.cancel()
    }
    await Promise.allSettled([...made].map(remove))
  }

  return { audit: { ...options, thread, request }, clear }
}

async function sendTo(
  server: Pick<AuditContextOptions, 'headers' | 'fetch'> & { readonly base: string },
  method: string,
  path: string,
  { body, headers }: Sent,
  within: AbortSignal,
): Promise<Response> {
  const type = body !== undefined && { 'content-type': 'application/json' }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const init = { method, headers: { ...type, ...server.headers, ...headers }, signal: within }
  try {
    return await server.fetch(server.base + path, body === undefined ? init : { ...init, body: text })
  } catch (error) {
    if (!within.aborted) throw error
    throw new AuditError(`${method} ${path}`, 'an answer in time', 'none', { cause: error })
  }
}

interface ThreadOptions extends Pick<AuditContext, 'input' | 'signal' | 'request'> {
  readonly id: string
  readonly assistantId: string | undefined
  readonly open: (filter: unknown, more: StreamOptions) => Promise<AuditStream>
  readonly openSocket: (more: StreamOptions) => Promise<AuditSocket>
}

type Params = Readonly<Record<string, unknown>>

function threadOf({ id, assistantId, input, signal, request, open, openSocket }: ThreadOptions) {
  const runParams: Params = { assistant_id: assistantId, input: input('Hello') }
  const command = commandsOf(request, runParams)
  const ok = async (method: string, params?: unknown): Promise<unknown> =>
    resultOf(method, await command(method, params))

  async function start(params: Params = {}): Promise<string> {
    const result = await ok('run.start', params)
    const runId = at(result, 'run_id')
    hold('the result of run.start', isText(runId) && runId !== '', 'a run_id', result)
    return runId as string
  }

  const stream = (filter: Params = {}, more: StreamOptions = {}): Promise<AuditStream> =>
    open({ channels: ALL, ...filter }, more)

  async function run(times = 1): Promise<Transcript> {
    const runIds = [await start()]
    // A stream that opens after its run has started must replay the earlier events.
    const opened = await stream()
    for (;;) {
      const events = await opened.untilEnd(runIds.length)
      if (runIds.length === times) return { events, stream: opened, runIds }
      runIds.push(await start())
    }
  }

  const state = (path?: string): Promise<unknown> => stateOf(request, path)
  const idle = (): Promise<unknown> => untilIdle(state, signal)

  return {
    id,
    runParams,
    request,
    status: async (...sent: Parameters<typeof request>): Promise<number> => (await request(...sent)).status,
    /** Sends a command, and checks the fields that every response needs. */
    command,
    /** The result of a command that must succeed. */
    ok,
    /** Runs the agent `times` times in sequence. Returns the stream with all events, and the run ids. */
    run,
    /** The state over REST, which must exist. */
    state,
    /** The state once no run is active on the thread. */
    idle,
    /** Calls `run`, and returns the resulting state too. */
    finish: async (times?: number) => ({ ...(await run(times)), state: await idle() }),
    /** The events that a new subscriber receives until `runs` runs have ended. Default: one. */
    replay: async (runs?: number) => (await stream()).untilEnd(runs),
    /** Checks that a command is rejected with one of these codes. */
    async refused(codes: readonly string[], method: string, params?: unknown): Promise<void> {
      const answer = await command(method, params)
      hold(`the answer to ${method}`, codes.includes(String(at(answer, 'error'))), codes.join(' or '), answer)
    },
    start,
    /** Starts a run, then opens a stream and returns it. */
    async begin(params?: Params): Promise<AuditStream> {
      await start(params)
      return stream()
    },
    /** A stream of the thread's events. Default filter: every channel. */
    stream,
    /** A web socket of the thread. The headers in `more` replace `headers` of the options. */
    socket: (more: StreamOptions = {}): Promise<AuditSocket> => openSocket(more),
  }
}

function commandsOf(request: AuditContext['request'], runParams: Params) {
  let commands = 0
  return async (method: string, given: unknown = {}): Promise<unknown> => {
    const id = ++commands
    const params = method === 'run.start' ? { ...runParams, ...(given as object) } : given
    const { status, body } = await request('POST', '/commands', { body: { id, method, params } })
    equal(`the status of ${method}`, status, 200)
    equal(`the id in the answer to ${method}`, at(body, 'id'), id)
    const type = at(body, 'type')
    const isAnswer = type === 'success' || type === 'error'
    hold(`the type of the answer to ${method}`, isAnswer, 'success or error', body)
    const isTold = type === 'success' || (isText(at(body, 'error')) && isText(at(body, 'message')))
    hold(`the error of ${method}`, isTold, 'error and message', body)
    return body
  }
}

async function stateOf(request: AuditContext['request'], path = '/state'): Promise<unknown> {
  const { status, body } = await request('GET', path)
  equal(`the status of GET ${path}`, status, 200)
  return body
}

async function untilIdle(state: () => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  for (;;) {
    const seen = await state()
    if (Array.isArray(at(seen, 'next')) && at(seen, 'next', 'length') === 0) return seen
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    hold('the state of an idle thread', !signal.aborted, 'next: []', seen)
  }
}

const isText = (value: unknown): boolean => typeof value === 'string'

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response
  if (headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return { status, headers, body: undefined }
  }
  const text = await response.text()
  try {
    return { status, headers, body: JSON.parse(text) }
  } catch {
    return { status, headers, body: text === '' ? undefined : text }
  }
}
