import type { Ancestor } from '../../checkpointer/delta-history.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import { toText } from '../../text.ts'
import type { Database } from '../database.ts'
import { DOCUMENTS } from '../store/scripts-store.ts'
import { readWrites, revive } from './blobs.ts'
import { LINE } from './scripts-saver.ts'
import { type Asked, readCells, reviveWrites } from './tuples.ts'

/** Checkpoints that are read at once. */
const PAGE = 100

type Kept = [checkpoint: Uint8Array, cells: (Uint8Array | number)[], writes: Uint8Array[]]

/** Nearest first, without the checkpoint itself. */
export async function* ancestorsOf(
  database: Database,
  serde: Serde,
  threadId: string,
  asked: Asked,
  channels: readonly string[],
): AsyncGenerator<Ancestor> {
  const { run, keys } = database
  let from: string | undefined = asked
  let isItself = true
  while (from !== undefined) {
    const args = [from, String(PAGE), ...channels.map(toText)]
    const line = (await run({ script: LINE, keys: keys.thread(threadId), args })) as Kept[]
    const parent: string | undefined = line.length === PAGE ? readCells(line.at(-1)![1]).parent : undefined
    from = parent === undefined ? undefined : `c${parent}`
    for (const [, flat, writes] of line.slice(isItself ? 1 : 0)) {
      const { cells } = readCells(flat)
      yield {
        writes: await reviveWrites(serde, readWrites(writes)),
        value: (channel) => loadValue(database, serde, threadId, cells.get(channel) ?? 0),
      }
    }
    isItself = false
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
