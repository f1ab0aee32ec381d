import { AgentwireError } from '../../errors.ts'
import { toText } from '../text.ts'

/**
 * The keys of one installation. What stands between braces decides the slot of a Redis Cluster: all keys of a partition, and the
 * thread of that name, are in one slot; all keys of the directory are in one slot.
 */
export interface Keys {
  /** A hash of counters and lease, a stream of events, a hash of documents. */
  readonly partition: (partition: string) => PartitionKeys
  /** What a saver keeps of a thread, and the order of it. */
  readonly thread: (threadId: string) => readonly [saved: string, order: string]
  /** The documents of a collection by partition and id, or by an index field. */
  readonly collection: (collection: string, field?: string) => string
  /** Documents with a time to live, by when they expire. */
  readonly expiring: string
  /** Its name in layout 1, where a development build of 0.1.0 wrote it. */
  readonly formerlyExpiring: string
  /** Leases, by when they expire. */
  readonly leases: string
  /** Partitions with events, by when they had none last. */
  readonly logs: string
  /** Commits whose entries in the directory are not settled, by when the commit is done or never will be. */
  readonly unsettled: string
  /** Threads with checkpoints. */
  readonly threads: string
  readonly layout: string
}

export interface PartitionKeys {
  readonly meta: string
  readonly log: string
  readonly docs: string
  /** The first two lines of documents that are gone, for as long as the directory may have entries of them. */
  readonly gone: string
  /** Its commits are published here. */
  readonly channel: string
}

const MAX_KNOWN = 1_000

const PREFIX = /^[A-Za-z0-9_:.-]{0,64}$/

export function createKeys(clientPrefix: string, prefix: string): Keys {
  if (!PREFIX.test(prefix)) {
    throw new AgentwireError(
      'invalid_argument',
      'The prefix of redisStorage must be letters, digits and _:.- only, at most 64 of them.',
    )
  }
  const all = clientPrefix + prefix
  const directory = (name: string) => `${all}{directory}:${name}`
  const channels = `${all}changes:`
  /** Of the partitions used last: a token stream asks for the same ones again and again. */
  const known = new Map<string, PartitionKeys>()
  return {
    partition(partition) {
      let found = known.get(partition)
      if (!found) {
        const name = encodeName(partition)
        const at = `${all}{p:${name}}:`
        found = {
          meta: `${at}meta`,
          log: `${at}log`,
          docs: `${at}docs`,
          gone: `${at}gone`,
          channel: channels + name,
        }
        if (known.size >= MAX_KNOWN) known.clear()
        known.set(partition, found)
      }
      return found
    },
    thread: (threadId) => {
      const at = `${all}{p:${encodeName(threadId)}}:`
      return [`${at}saved`, `${at}order`]
    },
    collection: (collection, field) =>
      directory(`by:${encodeName(collection)}${field === undefined ? '' : `:${encodeName(field)}`}`),
    expiring: directory('expiring'),
    formerlyExpiring: directory('mortal'),
    leases: directory('leases'),
    logs: directory('logs'),
    unsettled: directory('unsettled'),
    threads: directory('threads'),
    layout: directory('layout'),
  }
}

/** Neither braces nor colons are left in it. */
function encodeName(name: string): string {
  return encodeURIComponent(toText(name))
}
