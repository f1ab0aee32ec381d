import type { Observe, ServerEvent } from '../../src/index.ts'

/** Collects what a server reports, without the failures of agents, which end in an event of their own. */
export function unexpectedErrors(observe?: Observe) {
  const errors: unknown[] = []
  const reporters = {
    onError: (error: unknown) => void errors.push(error),
    observe(event: ServerEvent) {
      const failed = event.type === 'run.ended' && 'error' in event ? errors.lastIndexOf(event.error) : -1
      if (failed !== -1) errors.splice(failed, 1)
      return observe?.(event)
    },
  }
  return { errors, reporters }
}

/** Shows clients the texts of agents' errors, for tests of what those texts belong to. */
export const errorMessage = (error: unknown): string =>
  (error instanceof Error ? error.message : typeof error === 'string' ? error : '') ||
  'The agent failed without a message.'
