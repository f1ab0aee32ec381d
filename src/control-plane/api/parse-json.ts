import { InvalidRequest } from '../errors.ts'

/** The value of a JSON text. Throws `InvalidRequest` for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The runtime's own message may quote the body, including a secret.
    const ctx = { error: 'The body is not JSON' }
    throw new InvalidRequest([
      { type: 'json_invalid', loc: ['body'], msg: 'JSON decode error', input: {}, ctx },
    ])
  }
}
