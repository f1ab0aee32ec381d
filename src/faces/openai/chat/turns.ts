import { uuidOf } from '../../../core/ids.ts'
import type { Op, Store } from '../../../storage/store/store.ts'
import type { Turn } from '../input.ts'

const COLLECTION = 'openai_turns'

/** The names of a turn. */
export interface TurnDigest {
  /** Of all that the client has sent in it and in the turns before. */
  readonly full: string
  /** Of the user's messages alone, because some clients do not send results of tools again. */
  readonly spoken: string
}

export async function digestsOf(turns: readonly Turn[]): Promise<readonly TurnDigest[]> {
  const digests: TurnDigest[] = []
  for (const { full, spoken } of turns) {
    const last = digests.at(-1)
    digests.push({
      full: await uuidOf([last?.full ?? null, full]),
      spoken: spoken === '' && last ? last.spoken : await uuidOf(['spoken', last?.spoken ?? null, spoken]),
    })
  }
  return digests
}

/** Stores which run has answered a turn, in the run's commit. A regenerated turn has the later run. */
export const putTurn = ({ full, spoken }: TurnDigest, runId: string): readonly Op[] =>
  [full, spoken].map((id) => ({ op: 'put', collection: COLLECTION, id, value: { runId } }))

/** How far back a known turn is searched. */
const MAX_TURNS_BACK = 8

/** The last turn before the newest one that a thread knows, by its position, and the run that has answered it. */
export async function knownTurn(
  store: Store,
  threadId: string,
  turns: readonly Turn[],
  digests: readonly TurnDigest[],
): Promise<{ readonly at: number; readonly runId: string } | undefined> {
  const hasOutputs = turns.some(({ hasOutput }) => hasOutput)
  const newest = turns.length - 2
  for (let at = newest; at >= 0 && at > newest - MAX_TURNS_BACK; at--) {
    const { full, spoken } = digests[at]!
    const runId =
      (hasOutputs ? await runOfTurn(store, threadId, full) : undefined) ??
      (await runOfTurn(store, threadId, spoken))
    if (runId !== undefined) return { at, runId }
  }
  return undefined
}

/** The run that has answered a turn of a thread. */
async function runOfTurn(store: Store, threadId: string, digest: string): Promise<string | undefined> {
  const doc = await store.get(threadId, COLLECTION, digest)
  return (doc?.value as { readonly runId: string } | undefined)?.runId
}
