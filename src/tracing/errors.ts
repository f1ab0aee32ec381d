import { AgentwireError } from '../errors.ts'
import type { MessageError } from '../messages/index.ts'

/** Something handed to tracing that it cannot work with. `path` names it as one would write it in code. */
export class TracingError extends AgentwireError {
  static override readonly brand = 'TracingError'
  readonly path: string

  constructor(path: string, message: string, options?: { readonly cause?: unknown }) {
    super('invalid_trace', `${path}: ${message}`, options)
    this.path = path
  }
}

/** Tells of an error, to whoever wants to know. Never throws. */
export function report(onError: ((error: unknown) => void) | undefined, error: unknown): void {
  try {
    ;(onError ?? console.error)(error)
  } catch (worse) {
    console.error(worse)
  }
}

/** An error as a run carries it. */
export function textOfError(error: unknown): string {
  if (!(error instanceof Error))
    return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error))
  return error.name === 'Error' || error.message.startsWith(error.name)
    ? error.message
    : `${error.name}: ${error.message}`
}

/** What a provider says of a call that failed. */
export const textOfFailure = (failure: MessageError | undefined): string | undefined =>
  failure?.code ? `${failure.code}: ${failure.message}` : failure?.message
