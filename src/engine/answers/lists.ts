import { type Access, reaches } from '../../core/principal.ts'
import type { Store } from '../../storage/store/store.ts'
import type { RunContext } from '../context.ts'
import { type AnswerListQuery, type AnswerPage, listAnswers } from '../records/answers.ts'
import { type AnswerRecord, loadThread } from '../records/records.ts'
import type { OwnedThread } from '../threads/threads.ts'
import { type FoundAnswer, findAnswer } from './find.ts'

/**
 * A page of an owner's answers in threads that the caller can access. Pages may be shorter if some threads
 * are inaccessible.
 */
export async function listOwnAnswers(
  { store }: RunContext,
  { metadataFilter, cursor: first, ...query }: AnswerListQuery & Access,
): Promise<AnswerPage> {
  if (!metadataFilter) return listAnswers(store, { ...query, cursor: first })
  const isReached = reachedThreads(store, { owner: query.owner, metadataFilter })
  const pageFrom = async (cursor: string | undefined, limit: number) => {
    const page = await listAnswers(store, { ...query, limit, cursor })
    const reached = await Promise.all(page.tasks.map(isReached))
    return { ...page, tasks: page.tasks.filter((_, at) => reached[at]) }
  }
  let page = await pageFrom(first, query.limit)
  while (page.tasks.length === 0 && page.cursor !== undefined) page = await pageFrom(page.cursor, query.limit)
  let total = 0
  let all: AnswerPage | undefined
  do {
    all = await pageFrom(all?.cursor, MAX_LISTED)
    total += all.tasks.length
  } while (all.cursor !== undefined)
  return { ...page, total }
}

/** The maximum of answers in one store call. */
const MAX_LISTED = 1_000

/** A check whether the caller can access the thread of an answer. Each thread is looked up once. */
function reachedThreads(store: Store, access: Access): (task: AnswerRecord) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>()
  const look = async (threadId: string): Promise<boolean> => {
    const thread = await loadThread(store, threadId)
    return thread !== undefined && !thread.record.deleting && reaches(access, thread.record)
  }
  return ({ threadId }) => {
    const found = known.get(threadId) ?? look(threadId)
    known.set(threadId, found)
    return found
  }
}

/**
 * Resolves when an answer no longer waits for input, on any instance, because it continued or ended. Returns
 * it, or undefined if it no longer exists. Throws the error that ends the thread's subscribers, and the
 * signal's reason when it aborts.
 */
export async function untilAnswered(
  context: RunContext,
  {
    signal,
    ...asked
  }: OwnedThread & { readonly answerId: string; readonly signal?: AbortSignal | undefined },
): Promise<FoundAnswer | undefined> {
  let ended: Error | undefined
  const watcher = context.watchers.open(
    asked.threadId,
    ({ reason }) => {
      ended = reason
    },
    false,
  )
  signal?.addEventListener('abort', watcher.close)
  try {
    for (;;) {
      signal?.throwIfAborted()
      if (ended) throw ended
      const seen = watcher.wakeUps()
      const found = await findAnswer(context, asked)
      if (found?.record.state !== 'input-required') return found
      await watcher.wait(seen)
    }
  } finally {
    signal?.removeEventListener('abort', watcher.close)
    watcher.close()
  }
}
