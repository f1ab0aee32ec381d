import { createParser } from 'eventsource-parser'
import { AuditError, hold } from '../check.ts'
import { at, hasEnded, readEvent, type WireEvent } from './events.ts'

/** One frame of an event stream. */
interface Frame {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string
}

/** An open event stream that receives all events. */
export interface AuditStream extends Reader {
  readonly response: Response
  readonly frames: readonly Frame[]
  readonly comments: readonly string[]
  /** How many comments end with a blank line, which some clients take for an event without data. */
  readonly framedComments: number
  close(): void
}

/** Reads a response as an event stream until `leave` is aborted, by the reader or by the audit's timeout. */
export function readStream(response: Response, leave: AbortController): AuditStream {
  const intake = createIntake('stream')
  const frames: Frame[] = []
  const comments: string[] = []
  const countLines = createCommentCounter()
  let framedComments = 0

  const parser = createParser({
    onEvent({ id, event, data }) {
      frames.push({ id, event, data })
      const read = readEvent(parsed(data))
      if (read) intake.events.push(read)
    },
    onComment: (comment) => comments.push(comment),
  })
  const take = async () => {
    const decoder = new TextDecoder()
    const reader = response.body!.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const text = decoder.decode(value, { stream: true })
      parser.feed(text)
      framedComments += countLines(text)
      intake.look()
    }
  }
  leave.signal.addEventListener('abort', () => intake.over('timeout'))
  take().then(
    () => intake.over('ended'),
    () => intake.over('broken'),
  )

  return {
    ...intake,
    response,
    frames,
    comments,
    get framedComments() {
      return framedComments
    },
    close: () => leave.abort(),
  }
}

/** Counts the blank lines of a text in parts that directly follow a comment. */
function createCommentCounter(): (text: string) => number {
  let rest = ''
  let previous = ''
  return (text) => {
    const lines = (rest + text).split(/\r?\n/)
    rest = lines.pop()!
    let count = 0
    for (const line of lines) {
      if (line === '' && previous.startsWith(':')) count++
      previous = line
    }
    return count
  }
}

/** Checks that a response is an event stream. */
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

/** How a connection ended. */
type Ending = 'ended' | 'broken' | 'timeout'

/** A connection that can wait for events. */
export interface Reader {
  readonly events: readonly WireEvent[]
  /** Returns the events once `done` accepts them. Rejects if the connection ends first or the time is up. */
  until(what: string, done: (events: readonly WireEvent[]) => boolean): Promise<readonly WireEvent[]>
  /** Returns the events once `runs` runs have ended. Default: one. Rejects as `until` does. */
  untilEnd(runs?: number): Promise<readonly WireEvent[]>
  /** How the connection ended, or undefined while it is open. */
  ended(): Ending | undefined
}

/** Receives the messages of a connection. */
interface Intake extends Reader {
  readonly events: WireEvent[]
  /** Wakes the waiters after a message has arrived. */
  look(): void
  /** Marks the connection as ended. Only the first call has an effect. */
  over(how: Ending): void
  /** Waits until `find` returns a value, and returns it. Rejects as `until` does. */
  wait<Found>(what: string, find: () => Found | undefined): Promise<Found>
}

/** `name` is the connection's name in errors, such as `stream`. */
export function createIntake(name: string): Intake {
  const events: WireEvent[] = []
  const waiting = new Set<() => void>()
  let end: Ending | undefined
  const look = () => {
    for (const wake of [...waiting]) wake()
  }
  const wait: Intake['wait'] = (what, find) =>
    new Promise((resolve, reject) => {
      const wake = () => {
        const found = find()
        if (found !== undefined) resolve(found)
        else if (end)
          reject(new AuditError(what, 'it', `the end of the ${name} (${end}) after ${summary(events)}`))
        else return
        waiting.delete(wake)
      }
      waiting.add(wake)
      wake()
    })
  const until: Intake['until'] = (what, done) => wait(what, () => (done(events) ? [...events] : undefined))
  return {
    events,
    look,
    over(how) {
      end ??= how
      look()
    },
    ended: () => end,
    wait,
    until,
    untilEnd: (runs = 1) =>
      until(runs === 1 ? 'the end of the run' : `the end of ${runs} runs`, hasEnded(runs)),
  }
}

/** A one-word summary of each event, for error messages. */
function summary(events: readonly WireEvent[]): string {
  const words = events.map(({ method, namespace, data }) => {
    const event = at(data, 'event')
    return [method, namespace.join('|'), typeof event === 'string' ? event : ''].filter(Boolean).join(' ')
  })
  return words.length > 40
    ? `${words.slice(0, 40).join(', ')} and ${words.length - 40} more`
    : words.join(', ') || 'nothing'
}
