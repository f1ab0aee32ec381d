// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Json = any

/** An event as a client receives it. */
export interface WireEvent {
  readonly type: 'event' | 'gap'
  readonly event_id: string
  readonly seq: number
  readonly method: string
  readonly params: {
    readonly namespace: string[]
    readonly timestamp: number
    readonly node?: string
    readonly data: Json
  }
}

const TERMINAL = new Set<unknown>(['completed', 'failed', 'interrupted'])

export const isRoot = ({ method, params }: WireEvent): boolean =>
  method === 'lifecycle' && params.namespace.length === 0

export const isTerminal = (event: WireEvent): boolean =>
  isRoot(event) && TERMINAL.has(event.params.data.event)

/** Whether the event ends this run. */
export const isEndOf =
  (runId: string) =>
  (event: WireEvent): boolean =>
    isTerminal(event) && event.params.data.run_id === runId

/** Whether this run has ended within these events. */
export const hasEnded =
  (runId: string) =>
  (events: readonly WireEvent[]): boolean =>
    events.some(isEndOf(runId))

/** The states of the root runs in the order of their events: `running`, `completed`, … */
export const rootStates = (events: readonly WireEvent[]): string[] =>
  events.filter(isRoot).map(({ params }) => params.data.event)

export const dataOf = (events: readonly WireEvent[], method: string): Json[] =>
  events.filter((event) => event.method === method).map(({ params }) => params.data)

/** The fencing token of the event's writer. */
export const tokenOf = ({ event_id }: WireEvent): number => Number(event_id.split('-')[0])
