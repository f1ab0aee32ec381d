import { setTimeout as sleep } from 'node:timers/promises'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { sendCommand } from '../kit/client.ts'
import { isRoot, tokenOf, type WireEvent } from '../kit/events.ts'
import { type Frame, readFrames } from '../kit/frames.ts'

/** Starts a run and gives its id. */
export async function startRun(origin: string, threadId: string, params: object): Promise<string> {
  const { status, body } = await sendCommand(origin, threadId, 'run.start', params)
  if (body?.type !== 'success') throw new Error(`run.start: ${status} ${JSON.stringify(body)}`)
  return body.result.run_id
}

/** A subscriber that reads a thread's events and reconnects after its last event where the connection breaks. */
export interface Follower {
  readonly threadId: string
  readonly seen: readonly WireEvent[]
  /** The longest time that an event took from its writer to this subscriber, in milliseconds. */
  readonly slowest: number
  /** How often it reconnected. */
  readonly reconnects: number
  /** Settles when `holds` is true of the events seen. Rejects when the follower has failed. */
  until(holds: (seen: readonly WireEvent[]) => boolean): Promise<void>
  /** Settles with the status that ended it finally, such as 404. */
  readonly refused: Promise<number>
  close(): void
}

export interface Follow {
  /** The server to connect to, asked before each connection. */
  readonly origin: () => string
  readonly threadId: string
  /** How one connection is read. Default: as an event stream. */
  readonly read?: Read
  /** Default: 0, the whole log. */
  readonly since?: number
  /** Allows the log to begin anew under a higher token, as it does where the store forgets. */
  readonly mayForget?: boolean
}

/** Reads one connection to its end, and gives every event to `take`. Gives the status of HTTP where the server refuses it. */
export type Read = (connection: Connection) => Promise<number | undefined>

export interface Connection {
  /** The thread's stream at a server. */
  readonly url: string
  readonly since: number
  readonly signal: AbortSignal
  /** Throws where the event is not the next one. */
  readonly take: (events: readonly WireEvent[]) => void
}

/** Follows a thread from `since` on. An event that is not the next one is an error, which `until` throws. */
export function follow({ origin, threadId, read = stream, since = 0, mayForget = false }: Follow): Follower {
  const seen: WireEvent[] = []
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
  const take = (event: WireEvent) => {
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
        const status = await read({
          url: `${origin()}/threads/${threadId}/stream`,
          since: after,
          signal: closing.signal,
          take(events) {
            for (const event of events) take(event)
            look()
          },
        })
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

async function stream({ url, since, signal, take }: Connection): Promise<number | undefined> {
  const body = JSON.stringify({ channels: ALL_CHANNELS, since })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body, signal })
  if (response.status !== 200) {
    await response.body?.cancel()
    return response.status
  }
  for await (const { frames } of readFrames(response.body!)) {
    take(frames.map(eventOf))
  }
  return undefined
}

function eventOf({ id, data }: Frame): WireEvent {
  const event = JSON.parse(data) as WireEvent
  if (id !== event.event_id) throw new Error(`id ${id} of event ${event.event_id}`)
  return event
}

/** Whether a connection was refused or cut, by either side. */
const isBroken = (error: unknown): boolean =>
  (error instanceof TypeError && /fetch failed|terminated/.test(error.message)) ||
  (error as Error).name === 'AbortError'

/** The state that a root lifecycle event reports, and the run that it belongs to. */
export const rootState = (event: WireEvent): { run: unknown; state: unknown } | undefined =>
  isRoot(event) ? { run: event.params.data.run_id, state: event.params.data.event } : undefined
