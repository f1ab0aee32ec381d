import { equal, eventually, within } from '../check.ts'
import { type Http1, openHttp1, type Part } from './http1.ts'
import { adapterProbe, type Echo } from './probe.ts'
import type { SourceState } from './sources.ts'
import type { AdapterCapability, AdapterTarget, StartOptions } from './target.ts'

export interface Check {
  readonly needs?: readonly (AdapterCapability | 'connect' | 'collect')[] | undefined
  readonly start?: StartOptions | undefined
  readonly run: (bench: Bench) => Promise<void>
}

export const check = (needs: Check['needs'], run: Check['run']): Check => ({ needs, run })

/** A started target as a client sees it. Paths are relative to the mount path. */
export interface Bench {
  /** Such as `http://127.0.0.1:3000`. */
  readonly origin: string
  /** Such as `127.0.0.1:3000`. */
  readonly host: string
  /** The key of this check's streams. */
  readonly key: string
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Returns a response whose body is still open, and a function that disconnects. */
  open(path: string, init?: RequestInit): Promise<{ readonly response: Response; leave(): void }>
  echo(path?: string, init?: RequestInit): Promise<Echo>
  state(): Promise<SourceState>
  /** Waits until the streams of this check satisfy `holds`. */
  reach(what: string, holds: (state: SourceState) => boolean): Promise<SourceState>
  release(): Promise<void>
  connect(): Http1
  /** The same after sending a raw request. */
  send(
    method: string,
    target: string,
    headers?: Readonly<Record<string, string>>,
    ...body: readonly Part[]
  ): Promise<Http1>
  /** Closes the target. */
  close(): Promise<void>
  readonly collect: () => void
}

/** Runs a check against its own target, and closes everything afterwards. */
export async function runCheck(target: AdapterTarget, { start = {}, run }: Check): Promise<void> {
  const started = await target.start(adapterProbe(), start)
  const connections: Http1[] = []
  const fetching = started.fetch ?? fetch
  const { host, hostname, port } = new URL(started.origin)
  const base = started.origin + (start.mount ?? '')
  const key = crypto.randomUUID()
  let closed = false

  const get: Bench['fetch'] = (path, init) => within(`an answer to ${path}`, fetching(base + path, init))
  const state = async (): Promise<SourceState> => (await get(`/probe/state/${key}`)).json()

  const bench: Bench = {
    origin: started.origin,
    host,
    key,
    fetch: get,
    async open(path, init) {
      const leaving = new AbortController()
      const response = await get(path, { ...init, signal: leaving.signal })
      return { response, leave: () => leaving.abort() }
    },
    async echo(path = '/probe/echo', init) {
      const response = await get(path, init)
      equal(`the status of ${path}`, response.status, 200)
      return response.json()
    },
    state,
    reach: (what, holds) => eventually(what, state, holds),
    async release() {
      await (await get(`/probe/release/${key}`)).text()
    },
    connect() {
      const connection = openHttp1(target.connect!({ hostname, port: Number(port) }))
      connections.push(connection)
      return connection
    },
    async send(method, target, headers, ...body) {
      const http = bench.connect()
      await http.send(head(bench, method, target, headers), ...body)
      return http
    },
    async close() {
      closed = true
      await within('the end of the server', started.close())
    },
    collect: () => target.collect!(),
  }

  try {
    await run(bench)
    if (closed) return
    // Every stream that the check opened must have ended or been cancelled.
    await bench.reach('every stream let go of', isReleased)
  } finally {
    for (const connection of connections) await connection.cut()
    if (!closed) await within('the end of the server', started.close())
  }
}

/** The head of a raw request. The mount path is prepended to `path`. */
export function head(
  { host }: Bench,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const fields = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${fields.join('')}\r\n`
}

function isReleased({ opened, cancelled, ended }: SourceState): boolean {
  return opened === cancelled + ended
}
