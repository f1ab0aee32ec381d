import { isRecord } from '../../../messages/record.ts'
import { type Fields, fieldsOf } from '../fields.ts'
import type { Format, Shape } from '../format.ts'
import { addUnknown, createDraft, type Draft, finishDraft, takeEvents } from './draft.ts'

interface FormatParts extends Pick<Format, 'name' | 'provider' | 'detect' | 'readRequest'> {
  /**
   * Reads one response into a draft, with the functions of `draft.ts`. The returned function takes each chunk
   * of a stream, or the whole response once, and keeps the state of that stream.
   */
  open(draft: Draft): (chunk: Fields) => void
  /** Takes the object to read out of the envelope of a response or chunk. */
  unwrap?(value: unknown, whole: boolean): unknown
  /** What the unwrapped object is. Default: `detect`. */
  shapeOf?(value: unknown): Shape | undefined
}

/** Makes a format from its parts. */
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
