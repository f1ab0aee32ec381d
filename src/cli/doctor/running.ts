import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isLoopback } from '../../core/http/origins.ts'
import { explain, type Finding } from '../terminal.ts'

/** What a check found. `check` is stable, for programs that read the JSON. */
export interface Check extends Finding {
  readonly check: 'node' | 'package' | 'peer' | 'storage' | 'port' | 'server' | 'authentication' | 'streaming'
}

/** A proxy that does not buffer passes the first bytes on within milliseconds. */
const DEADLINE_MS = 10_000

const BUFFERED =
  'turn buffering and compression off for it: docs/docker.md has the lines for nginx, Caddy and Traefik.'

/** Asks a running server, over HTTP as clients do. `headers` are credentials. */
export async function serverChecks(url: URL, headers: Headers): Promise<readonly Check[]> {
  const asked = { url: url.href.replace(/\/$/, ''), threadId: `doctor-${crypto.randomUUID()}` }
  const answers = await Promise.all([readState(asked, new Headers()), readState(asked, headers)])
  const failed = answers.find((answer) => answer instanceof Error)
  if (failed) {
    const text = `${url.href} cannot be reached: ${explain(failed)} Start the server, or correct --url.`
    return [{ check: 'server', level: 'problem', text }]
  }
  const [anonymous, known] = answers as [Response, Response]
  const wrong = wrongServer(url, known)
  if (wrong) return [wrong]
  const authentication = authenticationCheck(url, anonymous.status, known.status)
  if (isRefused(known.status)) return [authentication]
  return [authentication, await streamingCheck(asked, headers)]
}

interface Target {
  readonly url: string
  readonly threadId: string
}

const signal = (): AbortSignal => AbortSignal.timeout(DEADLINE_MS)
const isRefused = (status: number): boolean => status === 401 || status === 403

/** Any answer, or why there is none. */
async function readState({ url, threadId }: Target, headers: Headers): Promise<Response | Error> {
  try {
    const response = await fetch(`${url}/threads/${threadId}/state`, { headers, signal: signal() })
    // An unread body keeps its connection.
    await response.arrayBuffer()
    return response
  } catch (error) {
    return error as Error
  }
}

/** Undefined for a server of threads: a thread that does not exist is 404 there, with the thread's id. */
function wrongServer(url: URL, { status, headers }: Response): Check | undefined {
  const problem = (text: string): Check => ({ check: 'server', level: 'problem', text })
  if (status === 421)
    return problem(`The server does not answer ${url.host}: add “${url.hostname}” to its allowedHosts.`)
  if (status >= 500)
    return problem(`${url.href} answers ${status}: read the log of the server or of the proxy.`)
  if (isRefused(status) || (status === 404 && /json/.test(headers.get('content-type') ?? '')))
    return undefined
  return problem(
    `${url.href} is no server of agentwire: it answers ${status}. Pass the URL where it is mounted, such as http://127.0.0.1:3000/agents.`,
  )
}

function authenticationCheck(url: URL, anonymous: number, known: number): Check {
  const about = { check: 'authentication' } as const
  if (isRefused(known)) {
    const text = `Authentication is on (${known}). Pass credentials to check streaming, such as --header "authorization: Bearer …".`
    return { ...about, level: 'warning', text }
  }
  if (isRefused(anonymous)) return { ...about, level: 'ok', text: 'Authentication is on.' }
  const text = 'Anyone who reaches the server can call it'
  return isLoopback(url.hostname)
    ? { ...about, level: 'ok', text: `${text}. Configure authenticate before others can.` }
    : { ...about, level: 'problem', text: `${text}: configure authenticate, as docs/users.md shows.` }
}

/** An event stream begins with a comment, whether or not its thread exists, and then stays open. */
async function streamingCheck(asked: Target, headers: Headers): Promise<Check> {
  const problem = (text: string): Check => ({ check: 'streaming', level: 'problem', text })
  const started = performance.now()
  try {
    const { status, type, encoding } = await firstBytes(asked, headers)
    if (!/^text\/event-stream/.test(type)) {
      const text = `The server has no event stream at ${asked.url}: it answers ${status}. Pass the URL where it is mounted.`
      return { check: 'server', level: 'problem', text }
    }
    if (encoding !== undefined)
      return problem(`Streams are compressed (${encoding}), which delays them: ${BUFFERED}`)
    const ms = Math.round(performance.now() - started)
    const text = `Streams are not buffered: the first bytes came after ${ms} ms.`
    return { check: 'streaming', level: 'ok', text }
  } catch (error) {
    if (!isTimeout(error)) return problem(`The stream was cut: ${explain(error as Error)}`)
    const seconds = DEADLINE_MS / 1_000
    return problem(
      `No bytes of a stream came in ${seconds} s. If a proxy stands before the server, ${BUFFERED}`,
    )
  }
}

const isTimeout = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')

/** What a stream begins with. Not with `fetch`, which keeps the connection of a compressed stream that is aborted. */
async function firstBytes({ url, threadId }: Target, credentials: Headers) {
  const target = new URL(`${url}/threads/${threadId}/stream/events`)
  const request = (target.protocol === 'https:' ? https : http).request(target, {
    method: 'POST',
    headers: {
      ...Object.fromEntries(credentials),
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'accept-encoding': 'gzip, br',
    },
    signal: signal(),
  })
  try {
    request.end(JSON.stringify({ channels: ['lifecycle'] }))
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    await once(response, 'data')
    const { 'content-type': type = '', 'content-encoding': encoding } = response.headers
    return { status: response.statusCode, type, encoding }
  } finally {
    request.on('error', () => {}).destroy()
  }
}
