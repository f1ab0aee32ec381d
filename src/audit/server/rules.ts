import type { ServerRule } from './rule.ts'
import { commandRules } from './rules/commands.ts'
import { eventRules } from './rules/events.ts'
import { filterRules } from './rules/filters.ts'
import { interruptRules } from './rules/interrupts.ts'
import { recordRules } from './rules/records.ts'
import { requestRules } from './rules/requests.ts'
import { runRules } from './rules/runs.ts'
import { socketRules } from './rules/sockets.ts'
import { stateRules } from './rules/states.ts'
import { streamRules } from './rules/streams.ts'

/** Every rule, in the order of a thread's life cycle. */
export const serverRules: readonly ServerRule[] = [
  ...commandRules,
  ...runRules,
  ...interruptRules,
  ...streamRules,
  ...filterRules,
  ...eventRules,
  ...stateRules,
  ...recordRules,
  ...requestRules,
  ...socketRules,
]
