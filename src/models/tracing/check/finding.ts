/** The requirements of a fully functional trace of a model call (platform interface, "Four requirements"). */
export type Requirement = 'run type' | 'message format' | 'provider and model' | 'token counts'

export interface Finding {
  /** The path from the run, as in code: `outputs.messages[0].content[1]`. */
  readonly path: string
  /** What is wrong, what it breaks, and what to do. */
  readonly message: string
  /** The requirement that the run misses. Absent if a single message or count is wrong. */
  readonly requirement?: Requirement
}
