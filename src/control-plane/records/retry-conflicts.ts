import { ConflictError } from '../../storage/index.ts'
import { sleep } from '../../time.ts'
import { refusal } from '../errors.ts'

const MAX_CONFLICTS = 100

/** Retries `attempt`, which reads again each time, where somebody else was first. Throws 409 after about ten seconds of that. */
export async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let conflicts = 0; ; conflicts++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      if (conflicts >= MAX_CONFLICTS)
        throw refusal(409, 'This is changing too fast. Try again.', { cause: error })
      // The first retries do not wait: within one process the winner has already committed.
      if (conflicts > 3) await sleep(Math.random() * Math.min(conflicts * 4, 200))
    }
  }
}
