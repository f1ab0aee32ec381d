import { type Call, HttpError } from '../http/index.ts'
import { InvalidValue, type Schema } from './schema.ts'

/** A request's checked body. Throws 400 and names the invalid field. */
export async function bodyOf<T>(schema: Schema<T>, call: Pick<Call, 'json'>): Promise<T> {
  return readBy(
    schema,
    (await call.json()) ?? {},
    (message) => new HttpError(400, 'invalid_argument', message),
  )
}

/** A checked value. Throws the error that `refused` makes of a sentence that names the invalid field. */
export function readBy<T>(schema: Schema<T>, value: unknown, refused: (message: string) => Error): T {
  try {
    return schema(value)
  } catch (error) {
    throw error instanceof InvalidValue ? refused(error.message) : error
  }
}
