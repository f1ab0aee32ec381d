import { filteredPage } from '../../core/filtered-page.ts'
import { nextTurn } from '../../core/time.ts'
import type { Doc, ListQuery, LogBatch, ReadQuery, Store } from './store.ts'

const PAGE = 200

/** A list's documents, page by page, at most `most` of them. Each page is read on demand. */
export async function* pagesOf(
  store: Store,
  collection: string,
  { offset = 0, ...query }: Omit<ListQuery, 'cursor' | 'limit'>,
  most = Infinity,
): AsyncGenerator<readonly Doc[], void, undefined> {
  let from: Pick<ListQuery, 'offset' | 'cursor'> = { offset }
  for (let left = most; left > 0; ) {
    const { docs, cursor } = await store.list(collection, { ...query, ...from, limit: Math.min(left, PAGE) })
    if (docs.length > 0) yield docs
    if (cursor === undefined) return
    left -= docs.length
    from = { cursor }
    // A store in memory responds immediately, and a long list would block everything else.
    await nextTurn()
  }
}

export async function listAll(
  store: Store,
  collection: string,
  query: Omit<ListQuery, 'cursor' | 'limit'>,
): Promise<readonly Doc[]> {
  const all: Doc[] = []
  for await (const docs of pagesOf(store, collection, query)) for (const doc of docs) all.push(doc)
  return all
}

/** The records of a list, read page by page as `pagesOf` does. */
export async function* recordsOf<T>(
  read: (doc: Doc) => T,
  ...list: Parameters<typeof pagesOf>
): AsyncGenerator<T, void, undefined> {
  for await (const docs of pagesOf(...list)) for (const doc of docs) yield read(doc)
}

/** The matching records of a list, starting at `offset`. Reads on until the page is full. */
export async function listFitting<T>(
  records: AsyncIterable<T>,
  fits: (record: T) => boolean,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<readonly T[]> {
  const range = { offset, limit, lookAt: Infinity, countTo: offset + limit }
  return (await filteredPage(records, fits, range)).items
}

type Read = (partition: string, query: ReadQuery) => Promise<LogBatch>

/** Readers with the same query before `read` has called `onSend` share one result. */
export function shareReads(
  read: (...args: [...Parameters<Read>, onSend: () => void]) => Promise<LogBatch>,
): Read {
  const unsent = new Map<string, Promise<LogBatch>>()
  return (partition, query) => {
    const asked = JSON.stringify([partition, query.after, query.limit, query.maxBytes])
    const known = unsent.get(asked)
    if (known) return known
    const forget = () => {
      if (unsent.get(asked) === answer) unsent.delete(asked)
    }
    const answer = read(partition, query, forget).finally(forget)
    unsent.set(asked, answer)
    return answer
  }
}
