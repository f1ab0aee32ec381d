import { checkOptions, type OptionTable } from '../../../core/options.ts'
import { createAccumulator } from '../../../messages/index.ts'
import type { Format, StreamReader } from '../../formats/index.ts'
import {
  CONVERT_OPTIONS,
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
  /** The run that gets `new_token` and the end. It has the request and the conversion options. */
  readonly run?: Run | undefined
  /** Called once, when the stream is complete, cancelled or failed. */
  readonly onEnd?: ((record: ModelCallRecord) => void) | undefined
  /** Called with errors of tracing itself, which never reach the stream. Default `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
}

const OBSERVE_OPTIONS: OptionTable<Omit<ObserveOptions, keyof ConvertOptions>> = {
  run: 'object',
  onEnd: 'function',
  onError: 'function',
}

/** How a stream ended: it was read to its end, cancelled, or failed, or it was a whole response instead. */
export type Ending = 'complete' | 'cancelled' | { readonly error: unknown } | { readonly response: unknown }

/** Observes the chunks of one stream. Neither function ever throws. */
export interface Observer {
  push(chunk: unknown): void
  /** Only the first call has an effect. */
  end(ending: Ending): void
}

/** The number of chunks within which the format must be detected. */
const MAX_CHUNKS_TO_DETECT = 16

export function createObserver(options: ObserveOptions): Observer {
  checkOptions('observeModelStream', options, CONVERT_OPTIONS, OBSERVE_OPTIONS)
  const { run, onEnd } = options
  // An unknown format name is the caller's mistake, so it throws immediately.
  if (typeof options.format === 'string') formatOf(options.format)
  const accumulator = createAccumulator()
  const events: RunEvent[] = []
  let format: Format | undefined
  let reader: StreamReader | undefined
  let waiting: unknown[] | undefined = []
  let firstTokenSeen = false
  let ended = false

  function read(chunk: unknown): void {
    for (const event of reader!.push(chunk)) {
      if (!firstTokenSeen && isContent(event, chunk)) {
        firstTokenSeen = true
        events.push({ name: 'new_token', time: new Date().toISOString() })
        run?.addEvent('new_token')
      }
      accumulator.push(event)
    }
  }

  /** Keeps chunks until one of them determines the format. */
  function detect(chunk: unknown): void {
    if (!waiting) return
    waiting.push(chunk)
    // A custom model may stream plain text.
    const plain = typeof chunk === 'string' ? 'generic' : undefined
    format = formatOf(options.format ?? run?.format ?? plain, chunk, options.request)
    if (format) {
      reader = format.readStream()
      for (const before of waiting) read(before)
    }
    if (format || waiting.length === MAX_CHUNKS_TO_DETECT) waiting = undefined
  }

  function outcome(ending: Ending): Outcome {
    if (typeof ending === 'object' && 'response' in ending)
      return readOutcome(ending.response, { ...options, format: options.format ?? run?.format })
    for (const event of reader?.end() ?? []) accumulator.push(event)
    const messages = format ? accumulator.messages() : []
    const issues =
      format || waiting?.length === 0
        ? undefined
        : [{ path: 'stream', message: 'No format matches its chunks.' }]
    return { messages, format, error: errorOf(ending, messages, accumulator.error), issues }
  }

  return {
    push(chunk) {
      if (ended) return
      try {
        if (reader) read(chunk)
        else detect(chunk)
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

function errorOf(
  ending: Exclude<Ending, { readonly response: unknown }>,
  messages: Outcome['messages'],
  failure: Parameters<typeof textOfFailure>[0],
): string | undefined {
  const failed = typeof ending === 'object' ? textOfError(ending.error) : undefined
  // A reader that leaves after the finish chunk has completed the stream, not cancelled it.
  const cancelled = ending === 'cancelled' && !messages.some(({ finishReason }) => finishReason)
  return failed ?? textOfFailure(failure) ?? (cancelled ? 'Cancelled before the stream ended.' : undefined)
}
