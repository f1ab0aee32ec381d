import { setTimeout as sleep } from 'node:timers/promises'

/** An event as a client gets it. */
export interface Seen {
  readonly seq: number
  readonly event_id: string
  readonly method: string
  readonly params: {
    readonly namespace: readonly string[]
    readonly timestamp: number
    readonly data: Record<string, unknown>
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: JSON of the wire
  readonly body: any
}

export const CHANNELS = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
]

const JSON_TYPE = { 'content-type': 'application/json' }

export async function request(method: string, url: string, body?: unknown, headers = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...JSON_TYPE, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
}

/** Sends a command. Its refusal is an answer, not an error. */
export const command = (origin: string, threadId: string, method: string, params: object, headers = {}) =>
  request('POST', `${origin}/threads/${threadId}/commands`, { id: 1, method, params }, headers)

/** Starts a run and gives its id. */
export async function startRun(origin: string, threadId: string, params: object): Promise<string> {
  const { status, body } = await command(origin, threadId, 'run.start', params)
  if (body?.type !== 'success') throw new Error(`run.start: ${status} ${JSON.stringify(body)}`)
  return body.result.run_id
}

/** Somebody who reads a thread's events, and comes back where the connection breaks: after the last one it has. */
export interface Follower {
  readonly threadId: string
  readonly seen: readonly Seen[]
  /** The longest that an event took from its writer to here, in milliseconds. */
  readonly slowest: number
  /** How often it came back. */
  readonly reconnects: number
  /** Settles when this holds of what was seen; rejects when the follower has failed. */
  until(holds: (seen: readonly Seen[]) => boolean): Promise<void>
  /** Settles with the status that ended it for good, such as 404. */
  readonly refused: Promise<number>
  close(): void
}

export interface Follow {
  /** Where to connect, asked each time. */
  readonly origin: () => string
  readonly threadId: string
  /** Default: 0, the whole log. */
  readonly since?: number
  /** The log may begin anew, under a higher token: the store forgets. */
  readonly mayForget?: boolean
}

/** Follows from `since` on. An event that is not the next one is an error, which `until` throws. */
export function follow({ origin, threadId, since = 0, mayForget = false }: Follow): Follower {
  const seen: Seen[] = []
  const waiting = new Set<() => void>()
  const closing = new AbortController()
  let failure: unknown
  let reconnects = -1
  let slowest = 0
  let refuse: (status: number) => void
  const refused = new Promise<number>((resolve) => {
    refuse = resolve
  })
  const look = () => {
    for (const wake of [...waiting]) wake()
  }
  const take = (event: Seen) => {
    const last = seen.at(-1)
    const expected = (last?.seq ?? since) + 1
    if (mayForget && last && event.seq === 1 && tokenOf(event) > tokenOf(last)) seen.length = 0
    else if (event.seq !== expected) {
      throw new Error(`${threadId}: event ${event.event_id} came where seq ${expected} was due`)
    }
    seen.push(event)
    slowest = Math.max(slowest, Date.now() - event.params.timestamp)
  }
  const run = async () => {
    while (!closing.signal.aborted) {
      reconnects += 1
      const after = seen.at(-1)?.seq ?? since
      try {
        const status = await stream(
          `${origin()}/threads/${threadId}/stream`,
          after,
          closing.signal,
          take,
          look,
        )
        if (status !== undefined && status < 500) return refuse(status)
      } catch (error) {
        if (!isBroken(error)) throw error
      }
      await sleep(20)
    }
  }
  run().catch((error) => {
    failure = error
    look()
  })
  return {
    threadId,
    seen,
    get slowest() {
      return slowest
    },
    get reconnects() {
      return reconnects
    },
    refused,
    until: (holds) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (failure === undefined && !holds(seen)) return
          waiting.delete(check)
          if (failure === undefined) resolve()
          else reject(failure)
        }
        waiting.add(check)
        check()
      }),
    close: () => closing.abort(),
  }
}

/** Reads one connection to its end. Gives the status where it is not 200. */
async function stream(
  url: string,
  since: number,
  signal: AbortSignal,
  take: (event: Seen) => void,
  look: () => void,
): Promise<number | undefined> {
  const body = JSON.stringify({ channels: CHANNELS, since })
  const response = await fetch(url, { method: 'POST', headers: JSON_TYPE, body, signal })
  if (response.status !== 200) {
    await response.body?.cancel()
    return response.status
  }
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of response.body!) {
    rest += decoder.decode(chunk, { stream: true })
    const end = rest.lastIndexOf('\n\n')
    if (end < 0) continue
    for (const frame of rest.slice(0, end).split('\n\n')) {
      if (!frame.startsWith(':')) take(parse(frame))
    }
    rest = rest.slice(end + 2)
    look()
  }
  return undefined
}

function parse(frame: string): Seen {
  const lines = new Map(
    frame.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)]
    }),
  )
  const event = JSON.parse(lines.get('data')!) as Seen
  if (lines.get('id') !== event.event_id) throw new Error(`id ${lines.get('id')} of event ${event.event_id}`)
  return event
}

/** A connection that was refused or cut, by the other side or by us. */
const isBroken = (error: unknown): boolean =>
  (error instanceof TypeError && /fetch failed|terminated/.test(error.message)) ||
  (error as Error).name === 'AbortError'

const TERMINAL = new Set<unknown>(['completed', 'failed', 'interrupted'])

/** The state that a root lifecycle event tells of, and whose. */
export const rootState = ({ method, params }: Seen): { run: unknown; state: unknown } | undefined =>
  method === 'lifecycle' && params.namespace.length === 0
    ? { run: params.data.run_id, state: params.data.event }
    : undefined

export const isEnd =
  (run: string) =>
  (event: Seen): boolean => {
    const root = rootState(event)
    return root?.run === run && TERMINAL.has(root.state)
  }

export const hasEnded =
  (run: string) =>
  (seen: readonly Seen[]): boolean =>
    seen.some(isEnd(run))

/** The fencing token of the event's writer. */
export const tokenOf = ({ event_id }: Seen): number => Number(event_id.split('-')[0])
