import { AgentwireError } from '../../core/errors.ts'
import type { MessageError } from '../../messages/index.ts'

/** An invalid argument for tracing. `path` is its path, as in code. */
export class TracingError extends AgentwireError {
  static override readonly brand = 'TracingError'
  readonly path: string

  constructor(path: string, message: string, options?: { readonly cause?: unknown }) {
    super('invalid_trace', `${path}: ${message}`, options)
    this.path = path
  }
}

/** Reports an error to `onError`, or to the console. It never throws, even if `onError` throws or rejects. */
export function report(onError: ((error: unknown) => unknown) | undefined, error: unknown): void {
  const call = async () => (onError ?? console.error)(error)
  call().catch((worse) => console.error(worse))
}

/** The text of an error for the `error` field of a run. */
export function textOfError(error: unknown): string {
  if (!(error instanceof Error))
    return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error))
  return error.name === 'Error' || error.message.startsWith(error.name)
    ? error.message
    : `${error.name}: ${error.message}`
}

export const textOfFailure = (failure: MessageError | undefined): string | undefined =>
  failure?.code ? `${failure.code}: ${failure.message}` : failure?.message
