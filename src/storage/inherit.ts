import { sleep } from '../time.ts'
import { claimLease, isHeld, nextToken } from './coordination/leases.ts'
import { retryOnConflict } from './coordination/retry.ts'
import { ConflictError } from './errors.ts'
import { pagesOf } from './store/pages.ts'
import type { Doc, Op, Store } from './store/store.ts'
import { isUpgraded } from './upgraded.ts'

export interface Inheritance {
  readonly owner: string | null
  /** Its name in earlier versions. Undefined if it has none. */
  readonly former: string | undefined
  /** A word for what is copied. */
  readonly what: string
  /** Copies what does not exist yet. Calls `renew` at least every ten seconds. */
  readonly copy: (former: string, renew: () => Promise<unknown>) => Promise<void>
}

const LEASE_MS = 30_000
const POLL_MS = 50
/** The maximum number of owners that a process remembers as copied. */
const MAX_KNOWN = 10_000

const known = new WeakMap<Store, Map<string, Promise<void>>>()

/**
 * Copies, once, what earlier versions stored for an owner in partitions with its name. A tenant and an id
 * with the same name shared a partition, so each of them gets its own copy.
 */
export async function inherit(store: Store, inheritance: Inheritance): Promise<void> {
  if (inheritance.former === undefined || !(await isUpgraded(store))) return
  const ofStore = known.get(store) ?? new Map<string, Promise<void>>()
  known.set(store, ofStore)
  const key = `${inheritance.what} ${inheritance.owner}`
  let done = ofStore.get(key)
  if (!done) {
    if (ofStore.size >= MAX_KNOWN) ofStore.clear()
    done = copyOnce(store, inheritance)
    ofStore.set(key, done)
    done.catch(() => ofStore.delete(key))
  }
  await done
}

async function copyOnce(store: Store, { owner, former, what, copy }: Inheritance): Promise<void> {
  const place = `\u001finherited ${owner}`
  const claim = async () => {
    const state = await store.inspect(place)
    if (isHeld(state)) return undefined
    const token = nextToken(state)
    const ops = [claimLease({ instance: what, leaseTtlMs: LEASE_MS }, token)]
    await store.commit(place, { guards: [{ guard: 'free' }], ops })
    return token
  }
  while (!(await store.get(place, 'inherited', what))) {
    const token = await retryOnConflict(claim)
    if (token === undefined) {
      await sleep(POLL_MS)
      continue
    }
    const guards = [{ guard: 'fence', token }] as const
    await copy(former!, () => store.commit(place, { guards, ops: [{ op: 'renew', token, ttlMs: LEASE_MS }] }))
    const done: Op = { op: 'put', collection: 'inherited', id: what, value: true }
    await store.commit(place, { guards, ops: [done, { op: 'release', token }] })
  }
}

/** Writes copies into a partition, unless they exist. */
export async function putCopies(
  store: Store,
  partition: string,
  puts: readonly (Op & { readonly op: 'put' })[],
): Promise<void> {
  const commit = (some: typeof puts) =>
    store.commit(partition, {
      guards: some.map(({ collection, id }) => ({ guard: 'absent', collection, id }) as const),
      ops: some,
    })
  try {
    await commit(puts)
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
    // Some of them exist.
    if (puts.length > 1) for (const put of puts) await putCopies(store, partition, [put])
  }
}

/** Copies the documents of some collections from one partition to another. */
export async function copyPartition(
  store: Store,
  from: string,
  to: string,
  collections: readonly string[],
): Promise<void> {
  for (const collection of collections)
    for await (const docs of pagesOf(store, collection, { partition: from }))
      await putCopies(
        store,
        to,
        docs.map(({ id, value, index }) => ({ op: 'put', collection, id, value, index })),
      )
}

/**
 * Writes a list's documents again, so that they move to other lists. Documents that change concurrently are
 * left out.
 */
export async function rewriteAll(
  store: Store,
  collection: string,
  orderBy: string,
  { put, renew }: { readonly put: (doc: Doc) => Op | Promise<Op>; readonly renew?: () => Promise<unknown> },
): Promise<void> {
  for await (const docs of pagesOf(store, collection, { orderBy })) {
    await Promise.all(
      docs.map(async (doc) => {
        const { partition, id, version } = doc
        const guards = [{ guard: 'version', collection, id, version }] as const
        try {
          await store.commit(partition, { guards, ops: [await put(doc)] })
        } catch (error) {
          if (!(error instanceof ConflictError)) throw error
        }
      }),
    )
    await renew?.()
  }
}
