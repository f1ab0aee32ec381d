export { ProtocolError, type ProtocolErrorCode } from './errors.ts'
export { createThreadsGroup, type ThreadsGroupOptions } from './group.ts'
export { createThreadsHandler, THREADS_OPTIONS, type ThreadsOptions } from './handler.ts'
