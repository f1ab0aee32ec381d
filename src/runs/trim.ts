import { FencedError } from '../storage/errors.ts'
import type { RunContext } from './context.ts'
import type { Launched } from './launch.ts'
import type { ThreadRecord } from './records.ts'

/** At the start of a run, when its own events are one: what is dropped are others', which have ended. */
export async function trimEarlierRuns(context: RunContext, { run, token }: Launched): Promise<void> {
  const { store, retention, report } = context
  const { maxAgeMs, maxEvents } = retention
  const { threadId, runId } = run
  // One that is continued has events of its own.
  if (run.attempts > 1) return
  try {
    if (maxEvents !== undefined) {
      await store.assertFence(threadId, token)
      await store.trim(threadId, { keepLast: maxEvents + 1 })
    }
    if (maxAgeMs !== undefined) await store.trim(threadId, { olderThanMs: maxAgeMs })
  } catch (error) {
    if (error instanceof FencedError) throw error
    report(error, { threadId, runId })
  }
}

const PAGE = 100
/** Threads that one round looks at. */
const MAX_THREADS = 1_000

/** Drops the old events of threads on which nothing happens. Each call goes on where the last one stopped, by their last change. */
export function quietTrimmer(context: RunContext): () => Promise<void> {
  const { store, retention, closing } = context
  const { maxAgeMs } = retention
  let cursor: string | undefined
  if (maxAgeMs === undefined) return async () => {}
  return async () => {
    const since = Date.now() - maxAgeMs
    for (let seen = 0; seen < MAX_THREADS && !closing.signal.aborted; seen += PAGE) {
      const page = await store.list('threads', {
        orderBy: 'updatedAt',
        limit: PAGE,
        ...(cursor !== undefined && { cursor }),
      })
      for (const { value } of page.docs) {
        const { threadId, updatedAt, activeRunId } = value as unknown as ThreadRecord
        if (updatedAt > since) return
        if (activeRunId === null) await store.trim(threadId, { olderThanMs: maxAgeMs })
      }
      if (page.cursor === undefined) return
      cursor = page.cursor
    }
  }
}
