export type {
  A2ACapabilities,
  A2ACard,
  A2ACardCaller,
  A2ACardOptions,
  A2ACardSignature,
  A2AExtension,
  SignCard,
} from './card/options.ts'
export { A2A_ERROR_CODES, A2AError, type A2AErrorCode } from './errors.ts'
export { createA2AHandler } from './face.ts'
export type { TaskState } from './model.ts'
export type { A2AOptions, StreamForm } from './options.ts'
export type { A2APushOptions } from './push/pushes.ts'
export {
  type A2AAgent,
  type A2AAgentOptions,
  type A2AReply,
  type A2ARequest,
  a2aAgent,
} from './remote/agent.ts'
export type { CardSource } from './remote/card.ts'
export type { ConnectionOptions } from './remote/connection.ts'
export type { A2ALink } from './remote/exchange.ts'
export { A2ARemoteError, type RemoteErrorCode } from './remote/remote-error.ts'
export type { RemoteQuestion, StreamedProgress } from './remote/reply.ts'
