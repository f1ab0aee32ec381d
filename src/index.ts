export type {
  Agent,
  AgentEvent,
  AgentEventMethod,
  AgentTask,
  CheckpointRef,
  HistoryOptions,
  PendingInterrupt,
  RunConfig,
  RunInput,
  SnapshotTask,
  StateAddress,
  StateSnapshot,
  StateUpdate,
} from './agents/agent.ts'
export { AgentInputError } from './agents/errors.ts'
export {
  type AgentContext,
  type AgentDefinition,
  type CallOptions,
  defineAgent,
  type FunctionAgent,
  type MessageEnd,
  type MessageOptions,
  type MessageWriter,
  type ModelOptions,
  type ModelStream,
  type StateChange,
  type SubagentResult,
  type ToolCallRequest,
  type ToolContext,
  type Writer,
} from './agents/function/define-agent.ts'
export { AgentwireError } from './errors.ts'
export {
  type Authenticate,
  type Call,
  combine,
  type Endpoint,
  type ErrorInfo,
  type HandlerContext,
  HttpError,
  type HttpErrorOptions,
  type Method,
  type OnError,
  type Principal,
  type Route,
  type WebHandler,
} from './http/index.ts'
export { type ContentBlock, type Message, type MessageEvent, textOf, type Usage } from './messages/index.ts'
export { RunError, type RunErrorCode } from './runs/index.ts'
export {
  createAgentServer,
  createThreadsHandler,
  type HttpOptions,
  type ServerOptions,
  type ThreadsOptions,
} from './server.ts'
export {
  type Checkpointer,
  ConflictError,
  FencedError,
  jsonSerde,
  type MemoryCheckpointer,
  type MemoryStoreOptions,
  memoryCheckpointer,
  memoryStore,
  type Serde,
  type Store,
  UnavailableError,
} from './storage/index.ts'
export {
  type Authorize,
  ProtocolError,
  type ProtocolErrorCode,
  type ThreadAction,
  type ThreadResource,
} from './threads/index.ts'
