import { addError, type Draft } from '../../reading/draft.ts'
import { type Fields, fieldsOf } from '../../reading/fields.ts'

const isException = (key: string): boolean => key.endsWith('Exception')

/** What a stream of Bedrock says when it fails: an event that is named as the exception. */
export const exceptionOf = (event: Fields): string | undefined => Object.keys(event).find(isException)

export function addException(draft: Draft, type: string, event: Fields): void {
  const exception = fieldsOf(event[type])
  // The message of an `Error` is not among its keys.
  addError(draft, { ...exception, type, message: exception.message })
}
