export { THREADS_OPTIONS, type ThreadsOptions } from './context.ts'
export { ProtocolError, type ProtocolErrorCode } from './errors.ts'
export { createThreadsGroup, createThreadsHandler } from './face.ts'
