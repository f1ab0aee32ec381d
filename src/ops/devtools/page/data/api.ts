import { createFrameReader } from '../model/frames.ts'
import { createClock, type Log, type LogEntry, type WireEvent } from '../model/log.ts'

/** Relative to the page, so that it works under whatever prefix the host has mounted it. */
const urlOf = (path: string): string => `${location.pathname.replace(/\/$/, '')}/api${path}`

/** An answer that is no success, in words. */
export class ApiError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Whether the server can be reached. */
export interface Connection {
  readonly away: boolean
  readonly problem: string
}

let connection: Connection = { away: false, problem: '' }
const listeners = new Set<() => void>()

export const getConnection = (): Connection => connection

export function onConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function setConnection(next: Connection): void {
  if (next.away === connection.away && next.problem === connection.problem) return
  connection = next
  for (const listener of listeners) listener()
}

export const clock = createClock()

/** Where a thread is asked for. */
export const threadPath = (threadId: string): string => `/threads/${encodeURIComponent(threadId)}`

/** Asks the server. Throws `ApiError`, with status 0 where it cannot be reached. */
export async function ask<T>(path: string, body?: unknown): Promise<T> {
  const sentAt = Date.now()
  const response = await request(path, body)
  const text = await response.text()
  const value = text === '' ? undefined : JSON.parse(text)
  if (typeof value?.now === 'number') clock.note(sentAt, Date.now(), value.now)
  return value as T
}

/** The bytes of a stream. Throws as `ask`, also when the stream breaks off. */
export async function* stream(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const response = await request(path, undefined, signal)
  const reader = response.body!.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        // A stream that the page has left was not lost.
        throw signal.aborted ? error : away('The connection was lost.')
      })
      if (done) return
      yield value
    }
  } finally {
    // After leaving the loop, the result of the cancel is of no use.
    reader.cancel().catch(() => {})
  }
}

async function request(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = { signal: signal ?? null }
  if (body !== undefined) {
    init.method = 'POST'
    init.headers = { 'content-type': 'application/json' }
    init.body = JSON.stringify(body)
  }
  let response: Response
  try {
    response = await fetch(urlOf(path), init)
  } catch (error) {
    if (signal?.aborted) throw error
    throw away('The server cannot be reached.')
  }
  if (response.ok) {
    setConnection({ away: false, problem: '' })
    return response
  }
  const { status } = response
  const said = await response.json().then(messageOf, () => undefined)
  if (status === 502 || status === 503 || status === 504)
    throw away(said ?? 'The server is not ready.', status)
  setConnection({ away: false, problem: '' })
  throw new ApiError(status, wordsOf(status, said))
}

const messageOf = (body: { readonly message?: unknown } | null): string | undefined =>
  typeof body?.message === 'string' ? body.message : undefined

function away(problem: string, status = 0): ApiError {
  setConnection({ away: true, problem })
  return new ApiError(status, problem)
}

function wordsOf(status: number, said: string | undefined): string {
  if (status === 401)
    return 'The server does not know who you are any more. Sign in again, then reload this page.'
  return said ?? `The server answered with status ${status}.`
}

/** A part of a thread's log, by the sequence numbers of its first and its last event. */
export interface LogRange {
  readonly threadId: string
  readonly from: number
  readonly to: number
}

/** The events of a range. Undefined if the page has dropped some of them. */
export function entriesIn({ entries }: Log, { from, to }: LogRange): readonly LogEntry[] | undefined {
  if ((entries[0]?.seq ?? Number.POSITIVE_INFINITY) > from) return undefined
  return entries.filter(({ seq, method }) => seq >= from && seq <= to && method !== 'gap')
}

/** The events of a range, from the server, except those that it has also dropped. */
export async function fetchEvents({ threadId, from, to }: LogRange): Promise<readonly WireEvent[]> {
  const read = createFrameReader()
  const events: WireEvent[] = []
  const path = `${threadPath(threadId)}/log?after=${from - 1}`
  for await (const chunk of stream(path, new AbortController().signal))
    for (const { data } of read(chunk)) {
      const event = JSON.parse(data) as WireEvent | { readonly type: 'gap'; readonly first_retained: number }
      if (event.type === 'gap') {
        if (event.first_retained > to) return events
        continue
      }
      if (event.seq <= to) events.push(event)
      if (event.seq >= to) return events
    }
  return events
}
