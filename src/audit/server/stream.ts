import { createParser } from 'eventsource-parser'
import { hold } from '../check.ts'
import { readEvent, type WireEvent } from './events.ts'
import { createIntake, type Ending } from './intake.ts'

/** One frame of the event stream. */
export interface Frame {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string
}

/** An open event stream that takes in all that comes. */
export interface AuditStream {
  readonly response: Response
  readonly events: readonly WireEvent[]
  readonly frames: readonly Frame[]
  readonly comments: readonly string[]
  /** The events so far, as soon as `done` holds of them. Rejects when the stream ends before, or time runs out. */
  until(what: string, done: (events: readonly WireEvent[]) => boolean): Promise<readonly WireEvent[]>
  /** How the stream ended; undefined while it is open. */
  ended(): Ending | undefined
  close(): void
}

/** Reads an answer as an event stream, until `leave` is aborted: by the reader, or because time has run out. */
export function readStream(response: Response, leave: AbortController): AuditStream {
  const { events, look, over, ended, until } = createIntake('stream')
  const frames: Frame[] = []
  const comments: string[] = []

  const parser = createParser({
    onEvent({ id, event, data }) {
      frames.push({ id, event, data })
      const read = readEvent(parsed(data))
      if (read) events.push(read)
    },
    onComment: (comment) => comments.push(comment),
  })
  const take = async () => {
    const decoder = new TextDecoder()
    const reader = response.body!.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      look()
    }
  }
  leave.signal.addEventListener('abort', () => over('because time ran out'))
  take().then(
    () => over('cleanly'),
    () => over('by breaking'),
  )

  return {
    response,
    events,
    frames,
    comments,
    ended,
    close: () => leave.abort(),
    until,
  }
}

/** Checks that an answer is an event stream at all. */
export function isStream({ status, headers }: Response): void {
  const type = headers.get('content-type') ?? ''
  hold('the answer of a stream', status === 200, 'status 200', status)
  hold('the answer of a stream', /^text\/event-stream\b/.test(type), 'content-type text/event-stream', type)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
