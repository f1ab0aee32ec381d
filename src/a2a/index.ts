export type {
  A2ACapabilities,
  A2ACard,
  A2ACardCaller,
  A2ACardOptions,
  A2ACardSignature,
  A2AExtension,
  SignCard,
} from './card/options.ts'
export { A2AError, type A2AErrorCode } from './errors.ts'
export { createA2AHandler } from './handler.ts'
export type { A2AOptions, StreamForm } from './options.ts'
