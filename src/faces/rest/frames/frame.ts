/** One event of a run's REST stream, before it is numbered. */
export interface Frame {
  /** Its stream mode, as requests spell it. Absent if every client receives it. */
  readonly mode?: string
  /** The event name, without the namespace. */
  readonly event: string
  /** The graph that it comes from. `[]` is the root. */
  readonly namespace: readonly string[]
  /** Plain JSON, or `JsonText` of it. */
  readonly data: unknown
  /** It belongs to a message that is being streamed. Later readers do not receive those of a lost attempt. */
  readonly isOfMessage?: true
}

/** Data that is sent as it was logged. */
export class JsonText {
  readonly #of: { readonly json: string }
  constructor(of: { readonly json: string }) {
    this.#of = of
  }
  get text(): string {
    return this.#of.json
  }
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

export const jsonOf = (data: unknown): string =>
  data instanceof JsonText ? data.text : (JSON.stringify(data) ?? 'null')

/** The run to make frames of. */
export interface FrameRequest {
  readonly threadId: string
  readonly runId: string
  /** As requests spell them. */
  readonly modes: readonly string[]
  readonly subgraphs: boolean
  /** Whether the run logs the chunks of REST clients in addition to the protocol's events. */
  readonly isClassic: boolean
  /** Whether the run was asked to stop. If so, it waits at no breakpoint. */
  readonly wasCancelled: () => Promise<boolean>
}

export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => Object(value) as Fields

/** The graph that runs the task of this namespace. */
export const graphOf = (task: readonly string[]): readonly string[] => task.slice(0, -1)
