import type { Database } from '../database.ts'
import { type Directory, GRACE_MS } from './directory.ts'
import {
  type Entry,
  entriesOf,
  expiringEntry,
  fieldOf,
  inGroups,
  readExpiring,
  readLines,
  timeOf,
} from './entries.ts'
import { EXPIRE } from './scripts-store.ts'

const PAGE = 200

/** Removes expired documents, then their directory entries. */
export async function sweepDocuments({ keys, run }: Database, directory: Directory): Promise<void> {
  const kept = new Set<string>()
  for (let isLast = false; !isLast; ) {
    const { now, members } = await directory.due(keys.expiring, kept.size, PAGE)
    isLast = members.length < PAGE
    const places = members.map(({ member }) => readExpiring(member))
    const answers = await inGroups(
      places,
      ({ partition }) => partition,
      async (partition, group) => {
        const { docs } = keys.partition(partition)
        const args = group.flatMap(({ collection, id, stamp }) => [fieldOf(collection, id), stamp])
        return (await run({ script: EXPIRE, keys: [docs], args, mutates: true })) as unknown[]
      },
    )
    const over: Entry[] = []
    for (const [i, place] of places.entries()) {
      const lines = answers[i]
      if (lines instanceof Uint8Array)
        for (const entry of entriesOf(keys, place, readLines(lines).index)) over.push(entry)
      const isUnknown = lines === null && timeOf(place.stamp) < now - GRACE_MS
      if (lines instanceof Uint8Array || isUnknown) over.push(expiringEntry(keys, place))
      else kept.add(members[i]!.member)
    }
    await directory.remove(over)
  }
}
