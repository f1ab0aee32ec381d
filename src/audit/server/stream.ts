import { createParser } from 'eventsource-parser'
import { AuditError, hold } from '../check.ts'
import { readEvent, type WireEvent } from './events.ts'

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
  ended(): 'cleanly' | 'by breaking' | 'because time ran out' | undefined
  close(): void
}

/** Reads an answer as an event stream, until `leave` is aborted: by the reader, or because time has run out. */
export function readStream(response: Response, leave: AbortController): AuditStream {
  const events: WireEvent[] = []
  const frames: Frame[] = []
  const comments: string[] = []
  const waiting = new Set<() => void>()
  let end: ReturnType<AuditStream['ended']>

  const parser = createParser({
    onEvent({ id, event, data }) {
      frames.push({ id, event, data })
      const read = readEvent(parsed(data))
      if (read) events.push(read)
    },
    onComment: (comment) => comments.push(comment),
  })
  const look = () => {
    for (const wake of [...waiting]) wake()
  }
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
  const over = (how: typeof end) => {
    end ??= how
    look()
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
    ended: () => end,
    close: () => leave.abort(),
    until: (what, done) =>
      new Promise((resolve, reject) => {
        const wake = () => {
          if (done(events)) resolve([...events])
          else if (end) reject(new AuditError(what, 'it', `the stream end ${end} after ${summary(events)}`))
          else return
          waiting.delete(wake)
        }
        waiting.add(wake)
        wake()
      }),
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

/** Each event in a word, for error messages. */
function summary(events: readonly WireEvent[]): string {
  const words = events.map(({ method, namespace, data }) => {
    const event = (data as { event?: unknown } | null | undefined)?.event
    return [method, namespace.join('|'), typeof event === 'string' ? event : ''].filter(Boolean).join(' ')
  })
  return words.length > 40
    ? `${words.slice(0, 40).join(', ')} and ${words.length - 40} more`
    : words.join(', ') || 'nothing'
}
