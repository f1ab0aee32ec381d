import type { ServerRule } from './rule.ts'
import { commandRules } from './rules/commands.ts'
import { eventRules, messageRules } from './rules/events.ts'
import { filterRules } from './rules/filters.ts'
import { interruptRules } from './rules/interrupts.ts'
import { recordRules } from './rules/records.ts'
import { requestRules } from './rules/requests.ts'
import { cancelRules, multitaskRules, runRules } from './rules/runs.ts'
import { socketRules } from './rules/sockets.ts'
import { stateRules } from './rules/states.ts'
import { replayRules, streamRules } from './rules/streams.ts'

/** Every rule, in the order of a thread's life. */
export const serverRules: readonly ServerRule[] = [
  ...commandRules,
  ...runRules,
  ...cancelRules,
  ...multitaskRules,
  ...interruptRules,
  ...streamRules,
  ...replayRules,
  ...filterRules,
  ...eventRules,
  ...messageRules,
  ...stateRules,
  ...recordRules,
  ...requestRules,
  ...socketRules,
]
