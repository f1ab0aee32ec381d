import { type Call, HttpError } from '../../core/http/index.ts'
import { InvalidValue, parse, type Read, type Schema } from './parse.ts'

/** The validated body of a request. Throws `HttpError` 400, which names the invalid field. */
export async function bodyOf<S extends Schema>(schema: S, call: Pick<Call, 'json'>): Promise<Read<S>> {
  return readBy(
    schema,
    (await call.json()) ?? {},
    (message) => new HttpError(400, 'invalid_argument', message),
  )
}

/**
 * A validated value. Otherwise throws the error that `refused` creates from a sentence that names the invalid
 * field.
 */
export function readBy<S extends Schema>(
  schema: S,
  value: unknown,
  refused: (message: string) => Error,
): Read<S> {
  try {
    return parse(schema, value)
  } catch (error) {
    throw error instanceof InvalidValue ? refused(error.message) : error
  }
}
