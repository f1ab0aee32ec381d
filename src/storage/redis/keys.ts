import { AgentwireError } from '../../errors.ts'
import { toText } from '../sqlite/text.ts'

/**
 * The keys of one installation. What stands between braces decides the slot of a Redis Cluster: all keys of a partition, and the
 * thread of that name, are in one slot; all keys of the directory are in one slot.
 */
export interface Keys {
  /** Counters and lease, events, documents. */
  readonly partition: (partition: string) => readonly [meta: string, log: string, docs: string]
  /** What a saver keeps of a thread, and the order of it. */
  readonly thread: (threadId: string) => readonly [saved: string, order: string]
  /** The documents of a collection by partition and id, or by an index field. */
  readonly collection: (collection: string, field?: string) => string
  /** Documents with a time to live, by the end of it. */
  readonly mortal: string
  /** Leases by their end. */
  readonly leases: string
  /** Threads with checkpoints. */
  readonly threads: string
  readonly layout: string
  readonly channel: (partition: string) => string
  readonly partitionOf: (channel: string) => string
}

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
  const bells = `${all}bell:`
  return {
    partition: (partition) => {
      const at = `${all}{p:${encodeName(partition)}}:`
      return [`${at}meta`, `${at}log`, `${at}docs`]
    },
    thread: (threadId) => {
      const at = `${all}{p:${encodeName(threadId)}}:`
      return [`${at}saved`, `${at}order`]
    },
    collection: (collection, field) =>
      directory(`by:${encodeName(collection)}${field === undefined ? '' : `:${encodeName(field)}`}`),
    mortal: directory('mortal'),
    leases: directory('leases'),
    threads: directory('threads'),
    layout: directory('layout'),
    channel: (partition) => bells + encodeName(partition),
    partitionOf: (channel) => channel.slice(bells.length),
  }
}

/** Neither braces nor colons are left in it. */
function encodeName(name: string): string {
  return encodeURIComponent(toText(name))
}
