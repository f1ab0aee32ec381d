import { AgentwireError } from '../../core/errors.ts'
import { toText } from '../text.ts'

export interface PartitionKeys {
  /** A hash with the counters and the lease, a stream of events, and a hash of documents. */
  readonly meta: string
  readonly log: string
  readonly docs: string
  /** The first two lines of removed documents, while the directory may still have entries for them. */
  readonly gone: string
  /** The partition's commits are published here. */
  readonly channel: string
}

export type Keys = ReturnType<typeof createKeys>

const MAX_KNOWN = 1_000

const PREFIX = /^[A-Za-z0-9_:.-]{0,64}$/

/**
 * The text in braces determines the slot in a Redis Cluster: all keys of a partition, and of the thread with
 * the same name, are in one slot; all keys of the directory are in one slot.
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
  /** Recently used partitions, because a token stream uses the same ones repeatedly. */
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
    /** The hash with a thread's data in the saver, and its ordered set. */
    thread(threadId: string): readonly [saved: string, order: string] {
      const at = `${all}{p:${encodeName(threadId)}}:`
      return [`${at}saved`, `${at}order`]
    },
    /** A collection's documents by partition and id, or by an index field. */
    collection: (collection: string, field?: string) =>
      directory(`by:${encodeName(collection)}${field === undefined ? '' : `:${encodeName(field)}`}`),
    /** Documents with a time to live, by expiry time. */
    expiring: directory('expiring'),
    leases: directory('leases'),
    /** Partitions with events, by the time when they last had none. */
    logs: directory('logs'),
    /** Commits with unsettled entries in the directory, by the time after which they can no longer run. */
    unsettled: directory('unsettled'),
    threads: directory('threads'),
    layout: directory('layout'),
  }
}

/** The result contains neither braces nor colons. */
const encodeName = (name: string): string => encodeURIComponent(toText(name))
