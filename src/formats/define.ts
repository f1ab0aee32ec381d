import { isRecord } from '../messages/record.ts'
import { addUnknown, createDraft, type Draft, finishDraft, takeEvents } from './draft.ts'
import { type Fields, fieldsOf } from './fields.ts'
import type { Format } from './format.ts'

interface FormatParts extends Pick<Format, 'name' | 'provider' | 'detect' | 'readRequest'> {
  /**
   * Starts to read a response into a draft, with the functions of `draft.ts`. The function it gives back takes the chunks of
   * a stream, or once the whole response. State of the stream is its own.
   */
  open(draft: Draft): (chunk: Fields) => void
}

/** A format from its parts. */
export function defineFormat({ open, ...parts }: FormatParts): Format {
  return {
    ...parts,
    readResponse(response) {
      const draft = createDraft(true)
      open(draft)(fieldsOf(response))
      const messages = finishDraft(draft)
      const { error } = draft
      if (error) return { messages, error }
      if (parts.detect(response) === 'response') return { messages }
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
          if (isRecord(chunk)) read(chunk)
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
