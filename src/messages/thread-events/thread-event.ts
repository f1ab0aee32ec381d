import type { AgentEvent, EventMethod } from './event-data.ts'

/**
 * An event of a thread's log, for code that reads it in process. Its `method` determines the type of `data`.
 */
export type ThreadEvent<Method extends EventMethod = EventMethod> = AgentEvent<Method> & {
  readonly type: 'event'
  /**
   * Never changes: `<fencing token>-<seq>`, or `synth:…` for a state that replaces events that the log no
   * longer has.
   */
  readonly eventId: string
  /** The sequence number in the log, from 1. A synthetic event has that of the last event before it. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly timestamp: number
  /** The run that sent it. Empty for a synthetic event. */
  readonly runId: string
  /** Only retracts what a lost attempt of the run sent, for clients that follow the state. */
  readonly superseded?: true
}

/** Retention dropped events that the reader has not received. The newest state follows. */
export interface LogGap {
  readonly type: 'gap'
  /** The last sequence number that the reader received. */
  readonly after: number
  /** The first sequence number that the log still has. */
  readonly firstRetained: number
}

/** An event of the log whose data are parsed on first access, for code that passes most events on unread. */
export type LoggedEvent<Method extends EventMethod = EventMethod> = ThreadEvent<Method> & {
  /** `data` as the JSON text that was written. */
  readonly json: string
}

/** Whether this event ends a run. */
export const isRunEnd = (event: AgentEvent): boolean =>
  // Accessing the data of a logged event parses them.
  event.method === 'lifecycle' && event.namespace.length === 0 && event.data.event !== 'running'
