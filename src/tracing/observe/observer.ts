import type { Format, StreamReader } from '../../formats/index.ts'
import { createAccumulator } from '../../messages/index.ts'
import {
  type ConvertOptions,
  type ModelCallRecord,
  type Outcome,
  type RunEvent,
  readOutcome,
  toRecord,
} from '../convert/convert.ts'
import { formatOf } from '../convert/formats.ts'
import { report, textOfError, textOfFailure } from '../errors.ts'
import type { Run } from '../run.ts'
import { isContent } from './first-token.ts'

export interface ObserveOptions extends ConvertOptions {
  /** A run to report to: it gets its `new_token` event and its end. It knows the request and how to convert. */
  readonly run?: Run | undefined
  /** Called once, when the stream has ended, however it did. */
  readonly onEnd?: ((record: ModelCallRecord) => void) | undefined
  /** Told of what fails in tracing itself; the stream never notices. Default `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** How a stream ended: read to its end, left before, or failed. Or it was none, but a whole response. */
export type Ending = 'complete' | 'cancelled' | { readonly error: unknown } | { readonly response: unknown }

/** Watches the chunks of one stream. Neither function ever throws. */
export interface Observer {
  push(chunk: unknown): void
  /** The first call counts. */
  end(ending: Ending): void
}

/** Chunks that are looked at before the format must be known. */
const PATIENCE = 16

export function createObserver(options: ObserveOptions): Observer {
  const { run, onEnd } = options
  // A format that does not exist is the caller's mistake: told at once.
  if (typeof options.format === 'string') formatOf(options.format)
  const accumulator = createAccumulator()
  const events: RunEvent[] = []
  let format: Format | undefined
  let reader: StreamReader | undefined
  let waiting: unknown[] | undefined = []
  let spoken = false
  let ended = false

  function read(chunk: unknown): void {
    for (const event of reader!.push(chunk)) {
      if (!spoken && isContent(event, chunk)) {
        spoken = true
        events.push({ name: 'new_token', time: new Date().toISOString() })
        run?.addEvent('new_token')
      }
      accumulator.push(event)
    }
  }

  /** Until a chunk tells the format, chunks wait. */
  function search(chunk: unknown): void {
    if (!waiting) return
    waiting.push(chunk)
    // Models of one's own may stream bare text.
    const plain = typeof chunk === 'string' ? 'generic' : undefined
    format = formatOf(options.format ?? run?.format ?? plain, chunk, options.request)
    if (format) {
      reader = format.readStream()
      for (const before of waiting) read(before)
    }
    if (format || waiting.length === PATIENCE) waiting = undefined
  }

  function outcome(ending: Ending): Outcome {
    if (typeof ending === 'object' && 'response' in ending)
      return readOutcome(ending.response, { ...options, format: options.format ?? run?.format })
    for (const event of reader?.end() ?? []) accumulator.push(event)
    const messages = format ? accumulator.messages() : []
    const { error } = accumulator
    const told = textOfFailure(error)
    const failed = typeof ending === 'object' ? textOfError(ending.error) : undefined
    // Who leaves after the last word has not cancelled anything.
    const left = ending === 'cancelled' && !messages.some(({ finishReason }) => finishReason)
    return {
      messages,
      format,
      error: failed ?? told ?? (left ? 'Cancelled: the stream was not read to its end.' : undefined),
      issues:
        format || waiting?.length === 0
          ? undefined
          : [{ path: 'stream', message: 'No format knows its chunks.' }],
    }
  }

  return {
    push(chunk) {
      if (ended) return
      try {
        if (reader) read(chunk)
        else search(chunk)
      } catch (error) {
        report(options.onError, error)
      }
    },
    end(ending) {
      if (ended) return
      ended = true
      try {
        const result = outcome(ending)
        const record = run ? run.finish(result) : toRecord(options, result, events)
        onEnd?.(record)
      } catch (error) {
        report(options.onError, error)
      }
    },
  }
}
