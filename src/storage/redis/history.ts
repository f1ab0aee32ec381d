import type { DeltaHistory } from '../memory-checkpoints.ts'
import type { Serde } from '../serde.ts'
import { toText } from '../text.ts'
import { readWrites, revive } from './blobs.ts'
import type { Database } from './database.ts'
import { LINE } from './scripts-saver.ts'
import { DOCUMENTS } from './scripts-store.ts'
import { type Asked, readCells, reviveWrites } from './tuples.ts'

/** Checkpoints that are read at once. */
const PAGE = 100

type Kept = [checkpoint: Uint8Array, cells: (Uint8Array | number)[], writes: Uint8Array[]]

/**
 * Walks the ancestors of a checkpoint once for all channels. A channel's walk ends at the nearest ancestor that stored a value,
 * its seed; the writes on that ancestor still count, for they made its child.
 */
export async function loadDeltaHistory(
  database: Database,
  serde: Serde,
  threadId: string,
  asked: Asked,
  channels: readonly string[],
): Promise<Record<string, DeltaHistory>> {
  const found = new Map<string, DeltaHistory>(channels.map((channel) => [channel, { writes: [] }]))
  const open = new Set(channels)
  for await (const [, flat, flatWrites] of ancestors(database, threadId, asked, channels)) {
    for (const write of (await reviveWrites(serde, readWrites(flatWrites))).reverse()) {
      if (open.has(write[1])) found.get(write[1])!.writes.push(write)
    }
    const { cells } = readCells(flat)
    for (const channel of open) {
      const seed = await loadValue(database, serde, threadId, cells.get(channel) ?? 0)
      if (seed === undefined) continue
      found.get(channel)!.seed = seed
      open.delete(channel)
    }
    if (open.size === 0) break
  }
  for (const history of found.values()) history.writes.reverse()
  return Object.fromEntries(found)
}

/** Nearest first, without the checkpoint itself. */
async function* ancestors(
  { run, keys }: Database,
  threadId: string,
  asked: Asked,
  channels: readonly string[],
): AsyncGenerator<Kept> {
  let from: string | undefined = asked
  let isItself = true
  while (from !== undefined) {
    const args = [from, String(PAGE), ...channels.map(toText)]
    const line = (await run({ script: LINE, keys: keys.thread(threadId), args })) as Kept[]
    const parent: string | undefined = line.length === PAGE ? readCells(line.at(-1)![1]).parent : undefined
    from = parent === undefined ? undefined : `c${parent}`
    for (const kept of line) {
      if (!isItself) yield kept
      isItself = false
    }
  }
}

async function loadValue(
  { run, keys }: Database,
  serde: Serde,
  threadId: string,
  number: number,
): Promise<unknown> {
  if (number === 0) return undefined
  const [saved] = keys.thread(threadId)
  const [, blob] = (await run({ script: DOCUMENTS, keys: [saved], args: [`v${number}`] })) as [
    number,
    Uint8Array | null,
  ]
  return blob ? revive(serde, blob) : undefined
}
