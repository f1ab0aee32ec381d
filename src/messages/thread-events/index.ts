export { createCallScopes } from './call-scopes.ts'
export type {
  AgentEvent,
  CheckpointData,
  CustomData,
  EventData,
  EventMethod,
  InputRequestedData,
  LifecycleData,
  TaskData,
  ToolData,
  UpdateData,
} from './event-data.ts'
export { agentEvent } from './event-data.ts'
export {
  createFold,
  type Fold,
  type Folded,
  type FoldedInterrupt,
  type FoldedMessage,
  type FoldedToolCall,
} from './fold.ts'
export { createOpenMessages, isEnd } from './open-messages.ts'
export { isRunEnd, type LogGap, type LoggedEvent, type ThreadEvent } from './thread-event.ts'
export { toolMessageOf } from './tool-message.ts'
