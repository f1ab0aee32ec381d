import { retryOnConflict } from '../../storage/coordination/retry.ts'
import { refusal } from '../errors.ts'

/** As `retryOnConflict`. Throws 409 in the end. */
export const retryConflicts = <T>(attempt: () => Promise<T>): Promise<T> =>
  retryOnConflict(attempt, (cause) => refusal(409, 'This is changing too fast. Try again.', { cause }))
