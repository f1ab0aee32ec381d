import type { Store } from '../../storage/index.ts'
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
    await pause(ms, [changed.signal, ...signals])
  } finally {
    unwatch()
  }
}

/** Settles after so many milliseconds, or as soon as one of the signals aborts. */
export function pause(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    for (const signal of signals) signal.addEventListener('abort', end)
    if (signals.some(({ aborted }) => aborted)) end()
  })
}
