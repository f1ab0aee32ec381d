import type { AgentEvent, EventData, EventMethod } from './event-data.ts'

/** An event whose method is a parameter. */
export const agentEvent = <M extends EventMethod>(
  method: M,
  namespace: readonly string[],
  data: EventData[M],
  node?: string,
): AgentEvent =>
  // TypeScript does not distribute an object of a generic method over the union.
  ({ method, namespace, ...(node !== undefined && { node }), data }) as AgentEvent
