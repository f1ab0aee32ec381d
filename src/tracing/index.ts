export { type CheckedRun, checkLlmRun } from './check.ts'
export {
  type ConvertOptions,
  convertModelCall,
  type ModelCall,
  type ModelCallRecord,
  type Outcome,
  type RunEvent,
} from './convert.ts'
export type { DeliveryOptions } from './delivery.ts'
export { TracingError } from './errors.ts'
export type { Finding, Requirement } from './finding.ts'
export { isContent } from './first-token.ts'
export type { Base64Policy } from './media.ts'
export { observeModelStream } from './observe-stream.ts'
export type { ObserveOptions } from './observer.ts'
export type { RunRecord, RunType } from './record.ts'
export { type Run, type RunOptions, type StartOptions, startLlmRun } from './run.ts'
export { type MemorySink, memorySink, type Sink } from './sink.ts'
export {
  type RequestThread,
  type ThreadMetadata,
  type ThreadOptions,
  threadMetadata,
} from './thread-metadata.ts'
export { type Costs, type Prices, partitionUsage } from './usage.ts'
