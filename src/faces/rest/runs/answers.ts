import { HttpError } from '../../../core/http/index.ts'
import { restStatusOf, type ThreadRecord, unanswered } from '../../../engine/index.ts'

/** The format of LangGraph's interrupt ids. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/

/**
 * The answers in `command.resume`, by interrupt id: a map of them, or the answer to the only interrupt. Empty
 * at a breakpoint, where it only continues the run. Throws 400.
 */
export function answersOf(
  thread: ThreadRecord | undefined,
  resume: unknown,
): Readonly<Record<string, unknown>> {
  if (resume === undefined || resume === null) return {}
  const open = thread ? unanswered(thread).map(({ id }) => id) : []
  if (typeof resume === 'object' && !Array.isArray(resume)) {
    const ids = Object.keys(resume)
    if (ids.length > 0 && ids.every((id) => open.includes(id) || INTERRUPT_ID.test(id)))
      return resume as Readonly<Record<string, unknown>>
  }
  const [only, ...others] = open
  if (only === undefined && thread && restStatusOf(thread) === 'interrupted') return {}
  if (only === undefined) throw refused('no interrupt is waiting for an answer on this thread.')
  if (others.length > 0)
    throw refused('several interrupts are waiting. Send an object with the answers by interrupt id.')
  return { [only]: resume }
}

const refused = (why: string): HttpError => new HttpError(400, 'invalid_argument', `command.resume: ${why}`)
