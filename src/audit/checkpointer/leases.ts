import { FencedError } from '../../storage/errors.ts'
import type { Op, Store } from '../../storage/store/store.ts'

/** What the audits need from a store whose leases fence a saver. */
export interface Leases {
  readonly store: Pick<Store, 'assertFence'>
  take(partition: string, token: number): Promise<void>
  release(partition: string, token: number): Promise<void>
}

export function leasesOf(store: Store): Leases {
  const commit = async (partition: string, op: Op) => void (await store.commit(partition, { ops: [op] }))
  return {
    store,
    take: (partition, token) =>
      commit(partition, { op: 'claim', owner: `owner ${token}`, token, ttlMs: 60_000 }),
    release: (partition, token) => commit(partition, { op: 'release', token }),
  }
}

/** Leases in memory. They do not expire; no audit waits for expiry. */
export function memoryLeases(): Leases {
  const held = new Map<string, number>()
  return {
    store: {
      async assertFence(partition, token) {
        if (held.get(partition) !== token) throw new FencedError(`The lease ${token} is not held.`)
      },
    },
    async take(partition, token) {
      held.set(partition, token)
    },
    async release(partition, token) {
      if (held.get(partition) === token) held.delete(partition)
    },
  }
}
