export { ProtocolError, type ProtocolErrorCode } from './errors.ts'
export { createThreadsGroup, type ThreadsGroupOptions } from './group.ts'
export { createThreadsHandler, type ThreadsOptions } from './handler.ts'
