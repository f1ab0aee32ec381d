import { addError, type Draft } from '../../reading/draft.ts'
import { type Fields, fieldsOf } from '../../reading/fields.ts'

const isException = (key: string): boolean => key.endsWith('Exception')

/** The exception's name if the event is one, as a failing Bedrock stream sends it. */
export const exceptionOf = (event: Fields): string | undefined => Object.keys(event).find(isException)

export function addException(draft: Draft, type: string, event: Fields): void {
  const exception = fieldsOf(event[type])
  // The message is not enumerable if the SDK returns an `Error`.
  addError(draft, { ...exception, type, message: exception.message })
}
