/** Hooks around `useStream` of `@langchain/react` for what most agent pages need. */
export { type AgentClient, type AgentClientOptions, type Connection, createAgentClient } from './client.ts'
export type { FirstState } from './first-state.ts'
export type { Observable } from './observable.ts'
export { type OpenThread, useOpenThread } from './open-thread.ts'
export type { ThreadEntry } from './requests.ts'
export { type Removal, searchThreads, type ThreadList, type ThreadStore } from './threads.ts'
export {
  contentOf,
  type Upload,
  type UploadBlock,
  type UploadOptions,
  type UploadProblem,
  type UseUploads,
  useUploads,
} from './uploads.ts'
export {
  type AgentStream,
  type AgentStreamHook,
  type AgentStreamOptions,
  type UseAgentStream,
  useAgentStream,
} from './use-agent-stream.ts'
export { type QueuedMessage, useQueue } from './use-queue.ts'
export { useReachable, useThread, useThreads } from './use-threads.ts'
