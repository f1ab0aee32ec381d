import { sleep } from '../time.ts'
import { claimLease, isHeld, nextToken } from './coordination/leases.ts'
import { retryOnConflict } from './coordination/retry.ts'
import { ConflictError } from './errors.ts'
import { pagesOf } from './store/pages.ts'
import type { Doc, Op, Store } from './store/store.ts'
import { isUpgraded } from './upgraded.ts'

export interface Inheritance {
  readonly owner: string | null
  /** Its name in earlier versions. Undefined where it has none. */
  readonly former: string | undefined
  /** What is copied, in a word. */
  readonly what: string
  /** Copies what is not there already. Calls `renew` at least every ten seconds. */
  readonly copy: (former: string, renew: () => Promise<unknown>) => Promise<void>
}

const LEASE_MS = 30_000
const POLL_MS = 50
/** Owners whose things are known to be copied, in one process. */
const MAX_KNOWN = 10_000

const known = new WeakMap<Store, Map<string, Promise<void>>>()

/**
 * Copies, once, what earlier versions kept for an owner in partitions that have its name. A tenant and an id
 * of the same name shared them, so each of the two gets a copy of its own.
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

/** Writes what is copied into a partition, unless it is there. */
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
    // Some of them are there.
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
 * Writes the documents of a list again, so that they move to other lists, except those that change meanwhile.
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
