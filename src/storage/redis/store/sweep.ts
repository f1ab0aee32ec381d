import type { Database } from '../database.ts'
import { type Directory, GRACE_MS } from './directory.ts'
import { type Entry, entriesOf, expiringEntry, fieldOf, readExpiring, readLines, timeOf } from './entries.ts'
import { EXPIRE } from './scripts-store.ts'

const PAGE = 200

/** Removes documents that have expired, then what the directory has of them. */
export async function sweepDocuments({ keys, run }: Database, directory: Directory): Promise<void> {
  const kept = new Set<string>()
  for (let isLast = false; !isLast; ) {
    const { now, members } = await directory.due(keys.expiring, kept.size, PAGE)
    isLast = members.length < PAGE
    const byPartition = new Map<string, { member: string; score: number }[]>()
    for (const due of members) {
      const { partition } = readExpiring(due.member)
      byPartition.set(partition, [...(byPartition.get(partition) ?? []), due])
    }
    const over: Entry[] = []
    await Promise.all(
      [...byPartition].map(async ([partition, group]) => {
        const { docs } = keys.partition(partition)
        const places = group.map(({ member }) => readExpiring(member))
        const args = places.flatMap(({ collection, id, stamp }) => [fieldOf(collection, id), stamp])
        const answers = (await run({ script: EXPIRE, keys: [docs], args, mutates: true })) as unknown[]
        for (const [i, place] of places.entries()) {
          const lines = answers[i]
          if (lines instanceof Uint8Array) over.push(...entriesOf(keys, place, readLines(lines).index))
          const isUnknown = lines === null && timeOf(place.stamp) < now - GRACE_MS
          if (lines instanceof Uint8Array || isUnknown) over.push(expiringEntry(keys, place))
          else kept.add(group[i]!.member)
        }
      }),
    )
    await directory.remove(over)
  }
}
