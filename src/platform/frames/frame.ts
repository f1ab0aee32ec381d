/** One event of a run's stream in the REST, before it is numbered. */
export interface Frame {
  /** The stream mode that it is of, by its name in requests. Absent where every client gets it. */
  readonly mode?: string
  /** The name of the event, without the namespace. */
  readonly event: string
  /** The graph that it comes from. `[]` is the root. */
  readonly namespace: readonly string[]
  /** Plain JSON, or `JsonText` of it. */
  readonly data: unknown
  /** It is of a message that is being written. Later readers do not get those of a lost attempt. */
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

/** The run whose frames are made. */
export interface FrameRequest {
  readonly threadId: string
  readonly runId: string
  /** By their names in requests. */
  readonly modes: readonly string[]
  readonly subgraphs: boolean
  /** Whether the run logs the chunks of REST clients, in addition to the protocol's events. */
  readonly isClassic: boolean
  /** Whether the run was asked to stop: it waits at no breakpoint then. */
  readonly wasCancelled: () => Promise<boolean>
}

export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => Object(value) as Fields

/** The graph that runs the task of this namespace. */
export const graphOf = (task: readonly string[]): readonly string[] => task.slice(0, -1)
