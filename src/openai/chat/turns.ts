import { uuidOf } from '../../ids.ts'
import type { Op, Store } from '../../storage/store/store.ts'

const COLLECTION = 'openai_turns'

/** A digest for each turn of a history, of its user messages and all turns before it. */
export async function digestsOf(turns: readonly string[]): Promise<readonly string[]> {
  const digests: string[] = []
  for (const turn of turns) digests.push(await uuidOf([digests.at(-1) ?? null, turn]))
  return digests
}

/** Stores which run has answered a turn, in the run's commit. A regenerated turn has the later run. */
export const putTurn = (digest: string, runId: string): Op => ({
  op: 'put',
  collection: COLLECTION,
  id: digest,
  value: { runId },
})

/** The run that has answered a turn of a thread. */
export async function runOfTurn(store: Store, threadId: string, digest: string): Promise<string | undefined> {
  const doc = await store.get(threadId, COLLECTION, digest)
  return (doc?.value as { readonly runId: string } | undefined)?.runId
}
