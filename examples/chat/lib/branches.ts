/** A checkpoint of a thread, without its values. */
export interface Checkpoint {
  readonly id: string
  /** The checkpoint that it continues. Null for the first one. */
  readonly parentId: string | null
  /**
   * `input` starts a run with a message, `loop` is a step, `update` and `fork` are written from outside of a
   * run.
   */
  readonly source: string
  /** ISO 8601. */
  readonly at: string
}

/** A turn's part of the history. */
export interface TurnHistory {
  /** The checkpoint before the turn's message. A message sent from there is another version of this one. */
  readonly forkFrom: string
  /** The newest checkpoint of each version of the turn, oldest version first. */
  readonly versions: readonly string[]
  /** The index of the version that is shown. */
  readonly shown: number
  /** From the message to the last step of the answer, in milliseconds. Undefined before the first step. */
  readonly ms: number | undefined
}

/**
 * The turns of the branch that ends with the newest checkpoint, newest turn first. `checkpoints` are newest
 * first, all of them or the first pages. Each turn starts with a checkpoint whose source is `input`. Two such
 * checkpoints that continue the same checkpoint are versions of one turn.
 */
export function turnHistories(checkpoints: readonly Checkpoint[]): readonly TurnHistory[] {
  const byId = new Map(checkpoints.map((checkpoint) => [checkpoint.id, checkpoint]))
  const parentOf = ({ parentId }: Checkpoint) => (parentId === null ? undefined : byId.get(parentId))
  // A thread's first message has no checkpoint before it. Its other versions continue its own input
  // checkpoint.
  const baseOf = (input: Checkpoint): string | null => {
    const parent = parentOf(input)
    return parent?.source === 'input' ? baseOf(parent) : input.parentId
  }
  const inputs = checkpoints.filter(({ source }) => source === 'input').toReversed()
  const inputOf = (checkpoint: Checkpoint | undefined): Checkpoint | undefined =>
    checkpoint === undefined || checkpoint.source === 'input' ? checkpoint : inputOf(parentOf(checkpoint))

  const histories: TurnHistory[] = []
  let end = checkpoints[0]
  while (end !== undefined) {
    const input = inputOf(end)
    if (input === undefined) break
    const base = baseOf(input)
    const versions = inputs.filter((other) => baseOf(other) === base)
    const step = lastStep(end, parentOf)
    histories.push({
      forkFrom: base ?? versions[0]!.id,
      versions: versions.map((version) => newestOf(version, versions, checkpoints, parentOf)),
      shown: versions.indexOf(input),
      ms: step === input ? undefined : Date.parse(step.at) - Date.parse(input.at),
    })
    end = base === null ? undefined : byId.get(base)
  }
  return histories
}

type ParentOf = (checkpoint: Checkpoint) => Checkpoint | undefined

/** The newest checkpoint that continues a version, and no other version of the same turn. */
function newestOf(
  version: Checkpoint,
  versions: readonly Checkpoint[],
  checkpoints: readonly Checkpoint[],
  parentOf: ParentOf,
): string {
  const versionOf = (checkpoint: Checkpoint | undefined): Checkpoint | undefined => {
    let one = checkpoint
    while (one !== undefined && !versions.includes(one)) one = parentOf(one)
    return one
  }
  return checkpoints.find((checkpoint) => versionOf(checkpoint) === version)!.id
}

/** What was written from outside after a run does not count as part of the answer's time. */
function lastStep(checkpoint: Checkpoint, parentOf: ParentOf): Checkpoint {
  const parent = parentOf(checkpoint)
  const isOutside = checkpoint.source === 'update' || checkpoint.source === 'fork'
  return isOutside && parent !== undefined ? lastStep(parent, parentOf) : checkpoint
}
