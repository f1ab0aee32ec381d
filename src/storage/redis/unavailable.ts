import { UnavailableError } from '../errors.ts'

/** Server errors start with a word in capitals; other errors do not. */
const ANSWER = /^-?[A-Z][A-Z0-9]+ /
/** Errors after which nothing was written, also inside a script's error. */
const REFUSED =
  /(^|-)(OOM|READONLY|MISCONF|LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|NOSCRIPT|NOAUTH|NOPERM|WRONGPASS|MOVED|ASK|TRYAGAIN|CROSSSLOT|UNKILLABLE) /

export function toUnavailable(error: unknown, mutates: boolean): UnavailableError {
  const message = error instanceof Error ? error.message : String(error)
  if (!ANSWER.test(message)) {
    const written = mutates ? 'unknown' : 'no'
    return new UnavailableError('Redis did not answer.', { written, cause: error })
  }
  const written = mutates && !REFUSED.test(message) ? 'unknown' : 'no'
  return new UnavailableError(`Redis refused: ${message}`, { written, cause: error })
}

export function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}
