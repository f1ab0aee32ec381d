export type { Agent } from './agents/agent.ts'
export type { JsonSchema } from './agents/description.ts'
export { AgentInputError, AgentRejection } from './agents/errors.ts'
export {
  type AgentContext,
  type AgentDefinition,
  type AgentReturn,
  type AnswerStream,
  type ArtifactOptions,
  type ArtifactWriter,
  type CallOptions,
  defineAgent,
  type FunctionAgent,
  type LoopOptions,
  type MessageEnd,
  type MessageOptions,
  type MessageWriter,
  type ModelAgentDefinition,
  type ModelOptions,
  type ModelStream,
  type RunDetails,
  runToolCalls,
  type StateChange,
  type StepContext,
  type Subagent,
  type SubagentResult,
  type Tool,
  type ToolArgs,
  type ToolCallHandlers,
  type ToolCallRequest,
  type ToolContext,
  type ToolDefinition,
  type ToolInput,
  tool,
  type Writer,
} from './agents/function/define-agent.ts'
export type { ClientTool, ModelRequest, ResponseFormat } from './agents/model-request.ts'
export type { AgentProfile, AgentSkill } from './agents/profile.ts'
export { AgentwireError } from './core/errors.ts'
export {
  type Authenticate,
  type Authenticated,
  bunSockets,
  type Call,
  type CorsOptions,
  combine,
  type Endpoint,
  type HandlerContext,
  HttpError,
  type OnError,
  type Principal,
  type Route,
  type SecuritySchemes,
  type WebHandler,
} from './core/http/index.ts'
export {
  type AgentEngine,
  type AgentEngineOptions,
  type Answer,
  type AnswerEnd,
  type Answers,
  createAgentEngine,
  type KeptWrite,
  type Observe,
  RunError,
  type RunErrorCode,
  type RunLimits,
  type RunRecord,
  type RunRequest,
  type RunResult,
  type RunStatus,
  type ServerEvent,
  type ThreadEvents,
  type ThreadRecord,
  type ThreadSnapshot,
  type WholeRun,
  type WholeRunRequest,
} from './engine/index.ts'
export type { Authorize, Permission, ThreadAction, ThreadResource } from './faces/kit/access.ts'
export {
  createThreadsHandler,
  ProtocolError,
  type ProtocolErrorCode,
  type ThreadsOptions,
} from './faces/threads/index.ts'
export { type ContentBlock, type Message, textOf, type Usage } from './messages/index.ts'
export {
  type AgentEvent,
  createFold,
  type EventData,
  type EventMethod,
  type Fold,
  type Folded,
  type FoldedMessage,
  type LogGap,
  type ThreadEvent,
} from './messages/thread-events/index.ts'
export {
  type AgentServer,
  createAgentServer,
  type OwnEngineOptions,
  type ServerFaces,
  type ServerHttpOptions,
  type ServerOptions,
  type SharedEngineOptions,
} from './server.ts'
export { type GraphStore, GraphStoreError } from './storage/graph-store/index.ts'
export {
  type Checkpointer,
  ConflictError,
  FencedError,
  jsonSerde,
  memoryCheckpointer,
  memoryStorage,
  memoryStore,
  type Store,
  UnavailableError,
} from './storage/index.ts'
