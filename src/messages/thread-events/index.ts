export {
  type AgentEvent,
  agentEvent,
  type CheckpointData,
  type CustomData,
  type EventData,
  type EventMethod,
  type InputRequestedData,
  isRunEnd,
  type LifecycleData,
  type LogGap,
  type LoggedEvent,
  type TaskData,
  type ThreadEvent,
  type ToolData,
  type UpdateData,
} from './event-data.ts'
export {
  createFold,
  type Fold,
  type Folded,
  type FoldedInterrupt,
  type FoldedMessage,
  type FoldedToolCall,
  toolMessageOf,
} from './fold.ts'
export { createCallScopes, createOpenMessages, isEnd } from './open-messages.ts'
