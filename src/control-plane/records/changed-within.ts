import type { Store } from '../../storage/index.ts'
import { pause } from '../../time.ts'
import { partitionOf } from './stored.ts'

/** Settles when a record of the deployment changes, or as `pause` does. */
export async function changedWithin(
  store: Store,
  deploymentId: string,
  ms: number,
  signals: readonly AbortSignal[],
): Promise<void> {
  const changed = new AbortController()
  const unwatch = store.watch(partitionOf(deploymentId), ({ docs }) => docs && changed.abort())
  try {
    await pause(ms, changed.signal, ...signals)
  } finally {
    unwatch()
  }
}
