export type { RunInput } from '../agents/agent.ts'
export type { ErrorReporter } from './context.ts'
export { createRunEngine, type RunEngine, type RunEngineOptions } from './engine.ts'
export { RunError, type RunErrorCode } from './errors.ts'
export type { StartRequest } from './execution/start.ts'
export type { EventFilter } from './log/filter.ts'
export type { CommandKey, Receipt, Started, Written } from './records/idempotency.ts'
export type {
  CancelAction,
  MultitaskStrategy,
  OpenInterrupt,
  StoredConfig,
  ThreadRecord,
} from './records/records.ts'
export type { SubscribeRequest } from './subscriptions/replay.ts'
export type { Subscription } from './subscriptions/subscribe.ts'
export type { StateQuery } from './threads/state.ts'
export type { RunTree } from './threads/tree.ts'
export type { StateWrite } from './threads/write-state.ts'
