/** What a fully functional trace of a model call needs (platform interface, "Four requirements"). */
export type Requirement = 'run type' | 'message format' | 'provider and model' | 'token counts'

export interface Finding {
  /** As one would write it in code, from the run: `outputs.messages[0].content[1]`. */
  readonly path: string
  /** What is wrong, what it breaks, and what to do. */
  readonly message: string
  /** The requirement that is missed. Absent: one message or count is not as it should be. */
  readonly requirement?: Requirement
}
