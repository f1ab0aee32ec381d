export { ProtocolError, type ProtocolErrorCode } from './errors.ts'
export { createThreadsGroup, type ThreadsGroupOptions } from './group.ts'
