import { AgentwireError } from '../../errors.ts'
import { toText } from '../text.ts'

export interface PartitionKeys {
  /** A hash of the counters and the lease, a stream of the events, a hash of the documents. */
  readonly meta: string
  readonly log: string
  readonly docs: string
  /** The first two lines of documents that are gone, while the directory may have entries of them. */
  readonly gone: string
  /** Its commits are published here. */
  readonly channel: string
}

export type Keys = ReturnType<typeof createKeys>

const MAX_KNOWN = 1_000

const PREFIX = /^[A-Za-z0-9_:.-]{0,64}$/

/**
 * What is between braces decides the slot of a Redis Cluster: all keys of a partition, and the thread of that
 * name, are in one slot; all keys of the directory are in one slot.
 */
export function createKeys(clientPrefix: string, prefix: string) {
  if (!PREFIX.test(prefix)) {
    throw new AgentwireError(
      'invalid_argument',
      'The prefix of redisStorage must be letters, digits and _:.- only, at most 64 of them.',
    )
  }
  const all = clientPrefix + prefix
  const directory = (name: string) => `${all}{directory}:${name}`
  /** Of the partitions used last: a token stream asks for the same ones again and again. */
  const known = new Map<string, PartitionKeys>()
  return {
    partition(partition: string): PartitionKeys {
      let found = known.get(partition)
      if (!found) {
        const name = encodeName(partition)
        const at = `${all}{p:${name}}:`
        const channel = `${all}changes:${name}`
        found = { meta: `${at}meta`, log: `${at}log`, docs: `${at}docs`, gone: `${at}gone`, channel }
        if (known.size >= MAX_KNOWN) known.clear()
        known.set(partition, found)
      }
      return found
    },
    /** What a saver keeps of a thread, and the order of it. */
    thread(threadId: string): readonly [saved: string, order: string] {
      const at = `${all}{p:${encodeName(threadId)}}:`
      return [`${at}saved`, `${at}order`]
    },
    /** The documents of a collection by partition and id, or by an index field. */
    collection: (collection: string, field?: string) =>
      directory(`by:${encodeName(collection)}${field === undefined ? '' : `:${encodeName(field)}`}`),
    /** Documents with a time to live, by when they expire. */
    expiring: directory('expiring'),
    /** Its name in layout 1, where a development build of 0.1.0 wrote it. */
    formerlyExpiring: directory('mortal'),
    leases: directory('leases'),
    /** Partitions with events, by when they had none last. */
    logs: directory('logs'),
    /** Commits with unsettled entries in the directory, by when they are done or never will be. */
    unsettled: directory('unsettled'),
    threads: directory('threads'),
    layout: directory('layout'),
  }
}

/** Neither braces nor colons are left in it. */
const encodeName = (name: string): string => encodeURIComponent(toText(name))
