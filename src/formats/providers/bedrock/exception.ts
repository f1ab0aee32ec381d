import { addError, type Draft } from '../../reading/draft.ts'
import { type Fields, fieldsOf } from '../../reading/fields.ts'

const isException = (key: string): boolean => key.endsWith('Exception')

/** The name of the exception if the event is one, as a failing stream of Bedrock sends it. */
export const exceptionOf = (event: Fields): string | undefined => Object.keys(event).find(isException)

export function addException(draft: Draft, type: string, event: Fields): void {
  const exception = fieldsOf(event[type])
  // The message is not enumerable where the SDK hands out an `Error`.
  addError(draft, { ...exception, type, message: exception.message })
}
