export type { AgentEngine, ServedEngine, ThreadList } from './agent-engine.ts'
export type { Answer, AnswerEnd, BeginAnswer, FindAnswer, FollowOptions } from './answers/answer.ts'
export type { AnswerQuery, FoundAnswer } from './answers/find.ts'
export type { SnapshotQuery, ThreadSnapshot } from './answers/snapshot.ts'
export type { Attach, Attached, EngineParts } from './attach.ts'
export type { ErrorReporter } from './context.ts'
export { createAgentEngine, openEngine } from './engine.ts'
export { noSuchCheckpoint, RunError, type RunErrorCode } from './errors.ts'
export type { ErrorMessage, RunOrigin } from './failures.ts'
export {
  cancelAnswer,
  findRun,
  findThreads,
  headOf,
  keepLatest,
  listAnswers,
  listThreadPage,
  lookAtThread,
  openQuestions,
  patchState,
  questionsBeforeInput,
  readStreamed,
  readToEnd,
  readTree,
  subscribe,
  untilAnswered,
} from './internals.ts'
export { jobsOf } from './jobs.ts'
export type { Limits, RunLimits } from './limits.ts'
export type { EventFilter } from './log/filter.ts'
export type { EventForm, EventItem, EventOf, EventStream } from './log/form.ts'
export { jsonBytes, jsonEnd, jsonStart, type Matcher, type Topic, topicOf } from './log/frame.ts'
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
export { type EngineInternals, internalsOf } from './parts.ts'
export { type AnswerListQuery, type AnswerPage, currentRun } from './records/answers.ts'
export type { CommandKey, Receipt, RunReceipt, StateReceipt, ThreadReceipt } from './records/idempotency.ts'
export {
  type AnswerLink,
  type AnswerRecord,
  type AnswerState,
  type CancelAction,
  hasList,
  isAnswerEnded,
  type KeptWrite,
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
  type ThreadOrder,
  type ThreadRecord,
  type ThreadTtl,
  unanswered,
} from './records/records.ts'
export { retryConflicts } from './records/update.ts'
export type {
  Answers,
  NewThreadRequest,
  RunRequest,
  RunResult,
  StateWriteRequest,
  ThreadAddress,
  ThreadEvents,
  ThreadLook,
  ThreadSubscription,
  WholeRun,
  WholeRunRequest,
} from './requests.ts'
export type { RunToEnd } from './subscriptions/events.ts'
export type { Rendering, Subscription } from './subscriptions/subscription.ts'
export {
  type HeldLease,
  inspectThread,
  listQueued,
  type ThreadInspection,
} from './threads/inspect.ts'
export type { ThreadListQuery } from './threads/lists.ts'
export { type LookQuery, receiptIn, recordIn } from './threads/look.ts'
export type { RunListQuery } from './threads/runs.ts'
export type { StateQuery } from './threads/state.ts'
export type { RunTree } from './threads/tree.ts'
