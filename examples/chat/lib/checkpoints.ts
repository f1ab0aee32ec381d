import type { Checkpoint } from './branches.ts'
import { apiUrl } from './client.ts'
import { states } from './states.ts'

const PAGE = 100

/**
 * A page of the thread's checkpoints, newest first, without their values: a long thread's history would have
 * many megabytes.
 */
export async function listCheckpoints(threadId: string, before?: string): Promise<readonly Checkpoint[]> {
  const response = await fetch(`${apiUrl}/threads/${encodeURIComponent(threadId)}/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 1, method: 'state.listCheckpoints', params: { limit: PAGE, before } }),
  })
  const { result, message } = (await response.json()) as ListAnswer
  if (result === undefined) throw new Error(message ?? 'The history of the thread could not be read.')
  return result.checkpoints.map(({ id, parent_id, timestamp, metadata }) => ({
    id,
    parentId: parent_id ?? null,
    source: metadata.source,
    at: timestamp,
  }))
}

interface ListAnswer {
  readonly message?: string
  readonly result?: {
    readonly checkpoints: readonly {
      readonly id: string
      readonly parent_id?: string
      readonly timestamp: string
      readonly metadata: { readonly source: string }
    }[]
  }
}

/**
 * Copies a checkpoint to the head of its thread, so that the branch is also shown after a reload and on other
 * pages.
 */
export async function showCheckpoint(threadId: string, checkpointId: string): Promise<void> {
  await states.updateState(threadId, { values: null, checkpointId, asNode: '__copy__' })
}
