export { agentEvent } from './agent-event.ts'
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
export { isRunEnd, type LogGap, type LoggedEvent, type ThreadEvent } from './thread-event.ts'
