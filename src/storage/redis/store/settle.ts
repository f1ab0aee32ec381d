import type { PreparedOp } from '../../store/commit.ts'
import type { DocIndex } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Database } from '../database.ts'
import type { Keys } from '../keys.ts'
import { type Directory, GRACE_MS } from './directory.ts'
import {
  type Entry,
  entriesOf,
  expiringEntry,
  fieldOf,
  loadFields,
  pairsOf,
  readDocument,
  readField,
  readLines,
  timeOf,
  toUtf8,
} from './entries.ts'

/** A put in its commit's entry: enough to find its directory entries. */
type Put = readonly [collection: string, id: string, tail: string, index: DocIndex]

const PAGE = 100

/**
 * The entry of a commit that puts or removes documents. It exists from before the commit until the directory
 * no longer has the entries that the commit invalidated. So the leftovers of a lost process are found, ten
 * minutes later.
 */
export function unsettledEntry(
  keys: Keys,
  partition: string,
  ops: readonly PreparedOp[],
  tailOf: (place: number) => string,
): Entry | undefined {
  if (!ops.some(({ op }) => op === 'put' || op === 'delete' || op === 'clear')) return undefined
  const puts = ops.flatMap((op, i): Put[] =>
    op.op === 'put' ? [[op.collection, op.id, tailOf(i), op.index]] : [],
  )
  const member = [toText(partition), JSON.stringify(puts), ''].join('\0')
  return { set: keys.unsettled, member, ttlMs: GRACE_MS, tail: tailOf(ops.length) }
}

/** A removed document, by its name in the hash `gone`. */
interface Gone {
  readonly name: string
  readonly field: string
  readonly lines: Uint8Array
}

export function goneOf(field: string, lines: Uint8Array): Gone {
  return { name: `${field}\0${toUtf8(lines).split(' ', 1)[0]}`, field, lines }
}

/** Removes the directory entries of removed documents, and then the partition's note of them. */
export async function forgetGone(
  { keys, send }: Database,
  directory: Directory,
  partition: string,
  gone: readonly Gone[],
  others: readonly Entry[],
): Promise<void> {
  const entries = gone.flatMap(({ field, lines }) => {
    const [collection, id] = readField(field)
    const { stamp, index, isExpiring } = readLines(lines)
    const place = { collection, partition, id, stamp }
    return [...entriesOf(keys, place, index), ...(isExpiring ? [expiringEntry(keys, place)] : [])]
  })
  await directory.remove([...entries, ...others])
  if (gone.length === 0) return
  const key = keys.partition(partition).gone
  await send(['HDEL', key, ...gone.map(({ name }) => name)], key)
}

/** Settles the commits of processes that were lost before or after them. */
export async function settleCommits(database: Database, directory: Directory): Promise<void> {
  for (;;) {
    const { members } = await directory.due(database.keys.unsettled, 0, PAGE)
    for (const { member } of members) await settle(database, directory, member)
    if (members.length < PAGE) return
  }
}

/** No commit runs after its entry is due, so whatever the partition lacks now, it will never have. */
async function settle(database: Database, directory: Directory, member: string): Promise<void> {
  const { keys, send } = database
  const [name, text, entered] = member.split('\0') as [string, string, string]
  const partition = fromText(name)
  const { docs, gone, log } = keys.partition(partition)
  const puts: readonly Put[] = JSON.parse(text)
  const fields = puts.map(([collection, id]) => fieldOf(collection, id))
  const { found } = await loadFields(database, docs, fields)
  const never = puts.flatMap(([collection, id, tail, index], i): Entry[] => {
    const stamp = `${timeOf(entered)}${tail}`
    if (found[i] && readDocument(partition, id, found[i]).stamp === stamp) return []
    const place = { collection, partition, id, stamp }
    return [...entriesOf(keys, place, index), expiringEntry(keys, place)]
  })
  const noted = pairsOf((await send(['HGETALL', gone], gone)) as Uint8Array[]).map(([key, lines]): Gone => {
    const name = toUtf8(key)
    return { name, field: name.slice(0, name.lastIndexOf('\0')), lines }
  })
  await forgetGone(database, directory, partition, noted, never)
  const at = await send(['ZSCORE', keys.logs, name], keys.logs)
  if (at !== null && Number(await send(['EXISTS', log], log)) === 0) {
    const since = Number(at instanceof Uint8Array ? toUtf8(at) : at)
    await directory.settle(keys.logs, [{ member: name, score: since }])
  }
  await directory.remove([{ set: keys.unsettled, member }])
}
