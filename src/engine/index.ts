export type { AgentEngine, ServedEngine, ThreadList } from './agent-engine.ts'
export type { Answer, AnswerEnd, BeginAnswer, FindAnswer, FollowOptions } from './answers/answer.ts'
export type { AnswerQuery, FoundAnswer } from './answers/find.ts'
export type { SnapshotQuery, ThreadSnapshot } from './answers/snapshot.ts'
export type { Attach, Attached, EngineParts } from './bound.ts'
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
export type { Limits, RunLimits } from './limits.ts'
export type { EventForm, EventItem, EventOf, EventStream } from './log/decode.ts'
export type { EventFilter } from './log/filter.ts'
export { jsonBytes, jsonEnd, jsonStart, type Matcher, type Topic, topicOf } from './log/frame.ts'
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
export { type EngineInternals, internalsOf, jobsOf } from './parts.ts'
export { type AnswerListQuery, type AnswerPage, currentRun } from './records/answers.ts'
export type { CommandKey, Receipt, RunReceipt, StateReceipt, ThreadReceipt } from './records/idempotency.ts'
export { unanswered } from './records/interrupts.ts'
export {
  type AnswerLink,
  type AnswerRecord,
  type AnswerState,
  type CancelAction,
  isAnswerEnded,
  type KeptWrite,
  type MultitaskStrategy,
  type OpenInterrupt,
  type QueuedRun,
  type RollbackPoint,
  type RunEnd,
  type RunRecord,
  type RunStatus,
  restStatusOf,
  type StoredConfig,
  type ThreadRecord,
  type ThreadTtl,
} from './records/records.ts'
export {
  hasList,
  type MetadataValue,
  metadataOf,
  retryConflicts,
  type ThreadOrder,
} from './records/thread.ts'
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
export { selectBytes } from './subscriptions/subscription.ts'
export type { ThreadListQuery } from './threads/lists.ts'
export {
  type HeldLease,
  inspectThread,
  type LookQuery,
  listQueued,
  receiptIn,
  recordIn,
  type ThreadInspection,
} from './threads/look.ts'
export type { StateQuery } from './threads/state.ts'
export type { RunListQuery } from './threads/threads.ts'
export type { RunTree } from './threads/tree.ts'
