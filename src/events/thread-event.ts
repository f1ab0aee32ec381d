import type { AgentEvent, EventMethod } from './event-data.ts'

/** An event of a thread's log, for code that reads it in process. Its `method` tells what its `data` is. */
export type ThreadEvent<Method extends EventMethod = EventMethod> = AgentEvent<Method> & {
  readonly type: 'event'
  /** Stable for ever: `<fencing token>-<seq>`; `synth:…` for a state that replaces events the log no longer has. */
  readonly eventId: string
  /** Its number in the log, from 1. A synthetic event has that of the last event before it. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly timestamp: number
  /** The run that sent it; empty for a synthetic event. */
  readonly runId: string
  /** It only takes back, for clients that follow the state, what a lost attempt of the run has sent. */
  readonly superseded?: true
}

/** Retention dropped events that the reader has not seen. The newest state follows. */
export interface LogGap {
  readonly type: 'gap'
  /** The last sequence number that the reader has. */
  readonly after: number
  /** The first sequence number that the log still has. */
  readonly firstRetained: number
}

/** An event of the log that is parsed where somebody reads its data, for code that passes most of them on. */
export type LoggedEvent<Method extends EventMethod = EventMethod> = ThreadEvent<Method> & {
  /** `data` as JSON, as it was written. */
  readonly json: string
}

/** Whether a run has ended with this event. */
export const isRunEnd = (event: AgentEvent): boolean =>
  // Reading the data of a logged event parses it.
  event.method === 'lifecycle' && event.namespace.length === 0 && event.data.event !== 'running'
