import { isRecord } from '../../messages/record.ts'
import type { Format, Shape } from '../format.ts'
import { addUnknown, createDraft, type Draft, finishDraft, takeEvents } from './draft.ts'
import { type Fields, fieldsOf } from './fields.ts'

interface FormatParts extends Pick<Format, 'name' | 'provider' | 'detect' | 'readRequest'> {
  /**
   * Starts to read a response into a draft, with the functions of `draft.ts`. The function it gives back takes the chunks of
   * a stream, or once the whole response. State of the stream is its own.
   */
  open(draft: Draft): (chunk: Fields) => void
  /** The object to read, out of what a response or a chunk comes in. */
  unwrap?(value: unknown, whole: boolean): unknown
  /** What that object is. Default: as `detect` says. */
  shapeOf?(value: unknown): Shape | undefined
}

/** A format from its parts. */
/* @__NO_SIDE_EFFECTS__ */
export function defineFormat({ open, unwrap = (value) => value, shapeOf, ...parts }: FormatParts): Format {
  return {
    ...parts,
    readResponse(response) {
      const draft = createDraft(true)
      const value = unwrap(response, true)
      open(draft)(fieldsOf(value))
      const messages = finishDraft(draft)
      const { error } = draft
      if (error) return { messages, error }
      if ((shapeOf ?? parts.detect)(value) === 'response') return { messages }
      return {
        messages: [{ role: 'assistant', content: [{ type: 'nonStandard', value: response }] }],
        issues: [{ path: '', message: `Expected a response of ${parts.name}.` }],
      }
    },
    readStream() {
      const draft = createDraft(false)
      const read = open(draft)
      let ended = false
      return {
        push(chunk) {
          const value = unwrap(chunk, false)
          if (isRecord(value)) read(value)
          else addUnknown(draft, chunk)
          return takeEvents(draft)
        },
        end() {
          if (!ended) finishDraft(draft)
          ended = true
          return takeEvents(draft)
        },
      }
    },
  }
}
