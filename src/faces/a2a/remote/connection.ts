import { createParser } from 'eventsource-parser'
import { isTextDeeper } from '../../../core/http/body.ts'
import { isRecord } from '../../../messages/record.ts'
import { A2ARemoteError, shortened } from './remote-error.ts'

/** How to connect to a remote agent. */
export interface ConnectionOptions {
  /**
   * Headers for every request, such as `authorization`, or a function that creates them for each request.
   * They are only sent to the origin of `url`, or of the interface of a `card` that you pass.
   */
  readonly headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>) | undefined
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * How long the remote agent may be silent, before its first byte and between two bytes, in milliseconds. A
   * stream that is silent for longer is reconnected. Raise it for an agent that cannot stream and answers
   * late. Default: 60,000.
   */
  readonly timeoutMs?: number | undefined
}

/**
 * Requests to one remote agent. Everything rejects with an `A2ARemoteError`, or with the reason of a signal.
 */
export interface Connection {
  /** Gets a document. The caller checks the status. */
  get(url: URL, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Answer>
  /** Returns the result of a JSON-RPC call. */
  call(request: RpcRequest): Promise<unknown>
  /** Returns the results of a streaming call, or the only result if the server does not stream. */
  open(request: RpcRequest, budget: Budget): AsyncGenerator<unknown, void>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface RpcRequest {
  readonly url: URL
  /** The `A2A-Version` header. */
  readonly version: string
  readonly method: string
  readonly params: unknown
  readonly signal: AbortSignal
}

/** The bytes that streams may still receive. */
export interface Budget {
  bytes: number
}

/** The maximum size of all streams of one exchange, and of any other response. */
const MAX_BYTES = 64 * 1024 * 1024
/** The maximum length of one event, in characters. */
const MAX_EVENT = 16 * 1024 * 1024
const MAX_DEPTH = 100
const MAX_REDIRECTS = 3

export const newBudget = (): Budget => ({ bytes: MAX_BYTES })

export function createConnection(options: ConnectionOptions): Connection {
  let calls = 0

  async function post({ url, version, method, params, signal }: RpcRequest, accept: string) {
    const id = ++calls
    const headers = { 'content-type': 'application/json', accept, 'a2a-version': version }
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    return { id, pipe: await send(options, url, { method: 'POST', headers, body }, signal) }
  }

  return {
    async get(url, headers, signal) {
      const pipe = await send(options, url, { headers }, signal)
      const { status, headers: answered } = pipe.response
      return { status, headers: answered, text: await readText(pipe) }
    },
    async call(request) {
      const { id, pipe } = await post(request, 'application/json')
      return resultOf(pipe.response, await readText(pipe), id)
    },
    async *open(request, budget) {
      const { id, pipe } = await post(request, 'text/event-stream, application/json')
      const { response } = pipe
      if (!isEventStream(response)) {
        yield resultOf(response, await readText(pipe), id)
        return
      }
      for await (const data of readEvents(pipe, budget)) yield resultOf(response, data, id)
    },
  }
}

/** A request whose body ends when it is silent for too long, or when the signal aborts. */
async function send(
  { fetch = globalThis.fetch, timeoutMs = 60_000, headers: added }: ConnectionOptions,
  start: URL,
  init: RequestInit,
  signal: AbortSignal | undefined,
): Promise<Pipe> {
  signal?.throwIfAborted()
  const stop = new AbortController()
  const leave = () => stop.abort(signal!.reason)
  signal?.addEventListener('abort', leave)
  let timer: ReturnType<typeof setTimeout> | undefined
  const rest = () => clearTimeout(timer)
  const wait = () => {
    rest()
    timer = setTimeout(() => stop.abort(unreachable(`It was silent for ${timeoutMs} ms.`)), timeoutMs)
  }
  const release = () => {
    rest()
    signal?.removeEventListener('abort', leave)
  }
  const failure = (cause: unknown): unknown => {
    release()
    if (stop.signal.aborted) return stop.signal.reason
    return cause instanceof A2ARemoteError ? cause : unreachable(messageOf(cause), cause)
  }
  try {
    let url = start
    for (let hop = 0; ; hop++) {
      wait()
      const headers = new Headers(await (typeof added === 'function' ? added() : added))
      for (const [name, value] of Object.entries(init.headers ?? {})) headers.set(name, value)
      const response = await fetch(url, { ...init, headers, redirect: 'manual', signal: stop.signal })
      if (response.status < 300 || response.status === 304 || response.status >= 400) {
        return { response, wait, rest, release, failure }
      }
      await response.body?.cancel()
      url = redirected(url, response, hop, init.method)
    }
  } catch (error) {
    throw failure(error)
  }
}

/** A response whose body is being read. */
interface Pipe {
  readonly response: Response
  /** Starts the timeout for the next byte. */
  wait(): void
  /** Stops the timeout while the reader is busy. */
  rest(): void
  release(): void
  /** The error for a failed read. */
  failure(cause: unknown): unknown
}

const isEventStream = ({ ok, headers }: Response): boolean =>
  ok && (headers.get('content-type') ?? '').toLowerCase().startsWith('text/event-stream')

async function readText(pipe: Pipe): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of readBytes(pipe, newBudget())) text += decoder.decode(bytes, { stream: true })
  return text + decoder.decode()
}

async function* readEvents(pipe: Pipe, budget: Budget): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  const events: string[] = []
  let isTooLarge = false
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ data }) => void events.push(data),
    onError: ({ type }) => void (isTooLarge ||= type === 'max-buffer-size-exceeded'),
  })
  for await (const bytes of readBytes(pipe, budget)) {
    parser.feed(decoder.decode(bytes, { stream: true }))
    for (const data of events.splice(0)) if (data !== '') yield data
    if (isTooLarge) throw tooLarge()
  }
}

async function* readBytes(pipe: Pipe, budget: Budget): AsyncGenerator<Uint8Array, void> {
  const reader = pipe.response.body?.getReader()
  try {
    for (;;) {
      pipe.wait()
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done || !value) return
      pipe.rest()
      budget.bytes -= value.byteLength
      if (!(budget.bytes >= 0)) throw tooLarge()
      yield value
    }
  } catch (error) {
    throw pipe.failure(error)
  } finally {
    pipe.release()
    // A body that fails to cancel has already ended.
    reader?.cancel().catch(() => {})
  }
}

/** The result in a JSON-RPC response. */
function resultOf(response: Response, text: string, id: number): unknown {
  const answer = isTextDeeper(text, MAX_DEPTH) ? undefined : parsed(text)
  const error = response.ok ? undefined : statusError(response)
  if (error && error.code !== 'invalid_answer' && response.status !== 500) throw error
  if (isRecord(answer) && isRecord(answer.error)) throw refusal(answer.error)
  if (error) throw error
  if (!isRecord(answer) || !('result' in answer)) {
    const type = response.headers.get('content-type') ?? 'no type'
    throw invalid(
      `it is not a JSON-RPC response. Its type is ${type}, and it begins with ${JSON.stringify(text.slice(0, 80))}.`,
    )
  }
  if (answer.id !== id)
    throw invalid(`it has the id ${JSON.stringify(answer.id)?.slice(0, 80)} instead of ${id}.`)
  return answer.result
}

function refusal({ code, message }: Record<string, unknown>): A2ARemoteError {
  const rpcCode = typeof code === 'number' ? code : undefined
  const text = typeof message === 'string' ? shortened(message) : 'It does not say why.'
  const about = rpcCode === undefined ? '' : ` (${rpcCode})`
  return new A2ARemoteError('refused', `The remote agent rejected the request${about}: ${text}`, {
    ...(rpcCode !== undefined && { rpcCode }),
  })
}

/** The error of a status, except 404, whose meaning depends on the request. */
export function statusError({ status }: Pick<Response, 'status'>): A2ARemoteError {
  if (status === 401 || status === 403)
    return new A2ARemoteError(
      'unauthorized',
      `The remote agent responded with ${status}. Pass its credentials as \`headers\`.`,
    )
  if (status >= 500 || status === 408 || status === 429) return unreachable(`It responded with ${status}.`)
  return invalid(`its status is ${status}.`)
}

function redirected(from: URL, { status, headers }: Response, hop: number, method: string | undefined): URL {
  const location = headers.get('location') ?? ''
  const to = URL.canParse(location, from) ? new URL(location, from) : undefined
  const isSafe = method !== 'POST' || status === 307 || status === 308
  if (to?.origin === from.origin && isSafe && hop < MAX_REDIRECTS) return to
  throw invalid(
    `it redirects from ${from.origin} to ${JSON.stringify(location.slice(0, 200))}. Credentials are not sent there: if this is intended, pass that URL as \`url\`.`,
  )
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // The caller reports what it expected instead.
  }
}

const messageOf = (cause: unknown): string => {
  const { message, cause: inner } = Object(cause) as { message?: unknown; cause?: { message?: unknown } }
  return String(inner?.message ?? message ?? cause)
}

const unreachable = (why: string, cause?: unknown): A2ARemoteError =>
  new A2ARemoteError('unreachable', `The remote agent cannot be reached. ${why}`, { cause })

const invalid = (why: string): A2ARemoteError =>
  new A2ARemoteError('invalid_answer', `The remote agent's response is not valid A2A: ${why}`)

const tooLarge = (): A2ARemoteError =>
  new A2ARemoteError('too_large', 'The remote agent sent more than this client accepts.')
