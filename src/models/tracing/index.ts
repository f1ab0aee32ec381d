export { type CheckedRun, checkLlmRun } from './check/check.ts'
export type { Finding, Requirement } from './check/messages.ts'
export {
  type ConvertOptions,
  convertModelCall,
  type ModelCall,
  type ModelCallRecord,
  type Outcome,
  type RunEvent,
} from './convert/convert.ts'
export { type Costs, type Prices, partitionUsage } from './convert/usage.ts'
export { TracingError } from './errors.ts'
export { isContent } from './observe/first-token.ts'
export { observeModelStream } from './observe/observe-stream.ts'
export type { ObserveOptions } from './observe/observer.ts'
export { type Run, type RunOptions, type StartOptions, startLlmRun } from './run.ts'
export {
  type Base64Policy,
  type DeliveryOptions,
  type MemorySink,
  memorySink,
  type Sink,
} from './sinks/delivery.ts'
export {
  type RequestThread,
  type ThreadMetadata,
  type ThreadOptions,
  threadMetadata,
} from './thread/metadata.ts'
export type { RunType, TracedRun } from './traced-run.ts'
