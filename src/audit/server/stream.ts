import { createParser } from 'eventsource-parser'
import { hold } from '../check.ts'
import { readEvent } from './events.ts'
import { createIntake, type Reader } from './intake.ts'

/** One frame of an event stream. */
export interface Frame {
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
