import type { LogBatch, ReadQuery } from './store.ts'

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
