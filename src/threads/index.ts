export type { Authorize, ThreadAction, ThreadResource } from '../requests/access.ts'
export type { ThreadsContext } from './context.ts'
export { ProtocolError, type ProtocolErrorCode } from './errors.ts'
export { createThreadsGroup, type ThreadsGroupOptions } from './group.ts'
