import type {
  Committed,
  Doc,
  Guard,
  Json,
  ListQuery,
  LogEvent,
  Op,
  Store,
} from '../../storage/store/store.ts'
import { claim } from '../check.ts'

/** The context of a rule: a store that may contain other data, and unused names. */
export interface StoreContext {
  readonly store: Store
  readonly partition: string
  /** An unused name for a partition or a collection. */
  unique(): string
  commit(...ops: readonly Op[]): Promise<Committed>
  /** Commits to the partition under guards. */
  commitIf(guards: readonly Guard[], ...ops: readonly Op[]): Promise<Committed>
  /** Opens another handle, which is closed after the check. */
  open(): Promise<Store>
  /** Resolves when the store's clock has advanced by at least `ms`. */
  pass(ms: number): Promise<void>
}

/** Milliseconds. Longer than any check takes. */
export const LONG = 600_000
/** Milliseconds, for checks that wait for expiry. */
export const SHORT = 40

export function put(
  collection: string,
  id: string,
  value: Json = null,
  more: Partial<Op & { op: 'put' }> = {},
): Op {
  return { op: 'put', collection, id, value, ...more }
}

export function event(text: string, topic = 'topic'): LogEvent {
  return { topic, data: new TextEncoder().encode(text) }
}

export function append(token: number, ...texts: readonly string[]): Op {
  return { op: 'append', token, events: texts.map((text) => event(text)) }
}

export const take = (token: number, ttlMs = LONG, owner = `owner ${token}`): Op => ({
  op: 'claim',
  owner,
  token,
  ttlMs,
})
export const release = (token: number): Op => ({ op: 'release', token })
export const clear: Op = { op: 'clear' }
export const remove = (collection: string, id: string): Op => ({ op: 'delete', collection, id })
export const isAt = (collection: string, id: string, version: number): Guard => ({
  guard: 'version',
  collection,
  id,
  version,
})
export const isAbsent = (collection: string, id: string): Guard => ({ guard: 'absent', collection, id })
export const headIs = (seq: number): Guard => ({ guard: 'head', seq })
export const free: Guard = { guard: 'free' }
export const fence = (token: number): Guard => ({ guard: 'fence', token })

/** An event as a reader sees it. */
export interface Read {
  readonly seq: number
  readonly text: string
  readonly topic: string
  readonly token: number
}

export const textsIn = async (...query: Parameters<typeof readAll>): Promise<string[]> =>
  (await readAll(...query)).map(({ text }) => text)

export const seqsIn = async (...query: Parameters<typeof readAll>): Promise<number[]> =>
  (await readAll(...query)).map(({ seq }) => seq)

/** Reads to the head in batches, as a subscriber does, and checks the shape of each batch. */
export async function readAll(
  store: Store,
  partition: string,
  query: { after?: number; limit?: number; maxBytes?: number } = {},
): Promise<Read[]> {
  const events: Read[] = []
  let after = query.after ?? 0
  for (;;) {
    const batch = await store.read(partition, { ...query, after })
    if (batch.count === 0) return events
    if (batch.first <= after) throw new Error(`a read after ${after} started at ${batch.first}`)
    for (let i = 0; i < batch.count; i++) {
      const data = batch.bytes.subarray(batch.offsets[i], batch.offsets[i + 1])
      const { topic, token } = batch.origins[batch.originOf[i]!]!
      events.push({ seq: batch.first + i, text: new TextDecoder().decode(data), topic, token })
    }
    after = batch.first + batch.count - 1
  }
}

export const pathOf = ({ partition, id }: Pick<Doc, 'partition' | 'id'>): string => `${partition} ${id}`

/** The documents of a list, page by page, until there are more than `most`. */
export async function listAll(
  store: Store,
  collection: string,
  query: ListQuery,
  most = 100,
): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await store.list(collection, { ...query, ...(cursor !== undefined && { cursor }) })
    claim(page.docs.length <= query.limit!, 'a page is no longer than its limit')
    seen.push(...page.docs.map(pathOf))
    cursor = page.cursor
  } while (cursor !== undefined && seen.length <= most)
  return seen
}
