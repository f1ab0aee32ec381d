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
