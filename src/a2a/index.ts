export { A2AError, type A2AErrorCode } from './errors.ts'
export { createA2AHandler } from './handler.ts'
export type { A2AOptions, StreamForm } from './options.ts'
