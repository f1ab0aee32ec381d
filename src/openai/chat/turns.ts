import { uuidOf } from '../../ids.ts'
import type { Op, Store } from '../../storage/store/store.ts'

const COLLECTION = 'openai_turns'

/** A digest for each turn of a history: of what the user has brought with it and with all turns before. */
export async function digestsOf(turns: readonly string[]): Promise<readonly string[]> {
  const digests: string[] = []
  for (const turn of turns) digests.push(await uuidOf([digests.at(-1) ?? null, turn]))
  return digests
}

/** Keeps which run has answered a turn, in the commit of the run. A turn that is answered again has the later run. */
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
