import type { RetentionOptions } from '../../store/retention.ts'
import { fromText } from '../../text.ts'
import type { Database } from '../database.ts'
import type { Directory, Due } from './directory.ts'
import { RETAIN } from './scripts-store.ts'

const PAGE = 200

/** A log with events. */
interface Retained {
  readonly partition: string
  /** Among all bytes that were ever appended to it. */
  readonly start: number
  readonly bytes: number
  readonly newestAt: number
  readonly isHeld: boolean
}

export async function expireLogs(
  database: Database,
  directory: Directory,
  { maxThreadBytes, maxTotalBytes, maxAgeMs }: RetentionOptions,
): Promise<void> {
  if (maxThreadBytes === undefined && maxTotalBytes === undefined && maxAgeMs === undefined) return
  const retained: Retained[] = []
  const empty: Due[] = []
  for (let seen = 0, isLast = false; !isLast; ) {
    const { now, members } = await directory.due(database.keys.logs, seen, PAGE)
    isLast = members.length < PAGE
    seen += members.length
    const bounds = [textOf(maxAgeMs === undefined ? undefined : now - maxAgeMs), textOf(maxThreadBytes)]
    await Promise.all(
      members.map(async (due) => {
        const log = await retain(database, fromText(due.member), bounds)
        if (log) retained.push(log)
        else empty.push(due)
      }),
    )
  }
  await directory.settle(
    database.keys.logs,
    empty.map((due) => ({ ...due, to: undefined })),
  )
  if (maxTotalBytes === undefined) return
  let excess = retained.reduce((sum, { bytes }) => sum + bytes, 0) - maxTotalBytes
  const idle = retained.filter(({ isHeld }) => !isHeld).sort((a, b) => a.newestAt - b.newestAt)
  for (const { partition, start, bytes } of idle) {
    if (excess <= 0) return
    // Where another process drops of it too, and has counted that, it does not start there any more.
    await retain(database, partition, ['', '', String(Math.min(excess, bytes)), String(start)])
    excess -= bytes
  }
}

/** Drops what is beyond the bounds. Gives what is left. */
async function retain(
  { run, keys }: Database,
  partition: string,
  bounds: readonly string[],
): Promise<Retained | undefined> {
  const { meta, log } = keys.partition(partition)
  const [age = '', most = '', excess = '', start = ''] = bounds
  let must = excess === '' ? undefined : { end: Number(start) + Number(excess), start: Number(start) }
  for (;;) {
    const args = [age, most, textOf(must && must.end - must.start), textOf(must?.start)]
    const answer = await run({ script: RETAIN, keys: [meta, log], args, mutates: true })
    const [first, end, newestAt, held, more] = answer as [number?, number?, number?, number?, number?]
    if (first === undefined) return undefined
    if (!more)
      return { partition, start: first, bytes: end! - first, newestAt: newestAt!, isHeld: held === 1 }
    if (must) must = { ...must, start: first }
  }
}

function textOf(value: number | undefined): string {
  return value === undefined ? '' : String(value)
}
