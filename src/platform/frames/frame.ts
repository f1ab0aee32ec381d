/** One event of a run's stream in the REST, before it is numbered. */
export interface Frame {
  /** The stream mode that it is of, by its name in requests. Absent where every client gets it. */
  readonly mode?: string
  /** The name of the event, without the namespace. */
  readonly event: string
  /** The graph that it comes from. `[]` is the root. */
  readonly namespace: readonly string[]
  readonly data: unknown
  /** It belongs to a message that a lost attempt was writing. Who reads the run later does not get it. */
  readonly isOfMessage?: true
}

export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => Object(value) as Fields

/** The graph that runs the task of this namespace. */
export const graphOf = (task: readonly string[]): readonly string[] => task.slice(0, -1)
