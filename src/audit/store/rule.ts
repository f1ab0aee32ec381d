import type { Json, LogEvent, Op, Store } from '../../storage/store/store.ts'

/** One thing that every `Store` must do. */
export interface StoreRule {
  readonly id: string
  readonly name: string
  readonly check: (context: AuditContext) => Promise<void>
}

/** Where a rule is checked: a store that may hold other data, and names that nobody else uses. */
export interface AuditContext {
  readonly store: Store
  readonly partition: string
  /** A name nobody used before, for a partition or a collection. */
  unique(): string
  /** Another handle, closed after the check. */
  open(): Promise<Store>
  /** Returns when the store's clock has moved on by at least this much. */
  pass(ms: number): Promise<void>
}

/** Longer than any check takes. */
export const LONG = 600_000
/** For checks that wait for the end of it. */
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

/** An event as a reader sees it. */
export interface Read {
  readonly seq: number
  readonly text: string
  readonly topic: string
  readonly token: number
}

/** Reads to the head as a subscriber does, batch by batch, and checks the shape of each batch. */
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
