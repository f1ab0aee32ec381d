export type { Attach, Attached, EngineParts } from './attach.ts'
export type { ErrorReporter } from './context.ts'
export {
  type AgentEngine,
  createAgentEngine,
  openEngine,
  type TaskList,
  type ThreadList,
} from './engine.ts'
export { noSuchCheckpoint, RunError, type RunErrorCode } from './errors.ts'
export type { ErrorMessage, RunOrigin } from './failures.ts'
export { jobsOf } from './jobs.ts'
export type { Limits, RunLimits } from './limits.ts'
export type { EventFilter, Matcher } from './log/filter.ts'
export { jsonBytes, jsonEnd, jsonStart, type Topic, topicOf } from './log/frame.ts'
export { selectBytes } from './log/select.ts'
export type { EngineMeasures } from './measure.ts'
export type { ThreadPatch } from './mutations/write-record.ts'
export type {
  AboutRun,
  Observe,
  RunEnding,
  RunEndReason,
  RunEvent,
  RunUsage,
  ServerEvent,
} from './observe.ts'
export { type AgentEngineOptions, ENGINE_OPTIONS } from './options.ts'
export type { CommandKey, Receipt, RunReceipt, StateReceipt, ThreadReceipt } from './records/idempotency.ts'
export {
  type CancelAction,
  hasList,
  isTaskEnded,
  type MetadataValue,
  type MultitaskStrategy,
  metadataOf,
  type OpenInterrupt,
  type QueuedRun,
  type RollbackPoint,
  type RunEnd,
  type RunRecord,
  type RunStatus,
  restStatusOf,
  type StoredConfig,
  type TaskLink,
  type TaskRecord,
  type TaskState,
  type ThreadOrder,
  type ThreadRecord,
  type ThreadTtl,
  unanswered,
} from './records/records.ts'
export type { TaskPage, TaskQuery } from './records/tasks.ts'
export type {
  Answers,
  NewThreadRequest,
  RunRequest,
  StateWriteRequest,
  ThreadAddress,
  ThreadEvents,
  ThreadSubscription,
} from './requests.ts'
export type { RunToEnd } from './subscriptions/events.ts'
export type { RunResult } from './subscriptions/result.ts'
export type { Rendering, Subscription } from './subscriptions/subscribe.ts'
export {
  type HeldLease,
  inspectThread,
  listQueued,
  listRuns,
  type ThreadInspection,
} from './threads/inspect.ts'
export type { ThreadListQuery } from './threads/lists.ts'
export type { RunListQuery } from './threads/runs.ts'
export type { StateQuery } from './threads/state.ts'
export type { RunTree } from './threads/tree.ts'
