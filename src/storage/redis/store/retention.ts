import {
  applyRetention,
  type Retained,
  type RetainedLog,
  type RetentionOptions,
} from '../../store/retention.ts'
import { fromText } from '../../text.ts'
import type { Database } from '../database.ts'
import type { Directory, Due } from './directory.ts'
import { DROP_CHUNKS } from './scripts-store.ts'

const PAGE = 200

interface Log extends RetainedLog {
  readonly due: Due
}

export async function expireLogs(
  database: Database,
  directory: Directory,
  options: RetentionOptions,
): Promise<void> {
  const { logs } = database.keys
  const empty: Due[] = []

  async function look(due: Due, args: readonly string[] = []) {
    const { log, isMore } = await drop(database, due, args)
    if (!log) empty.push(due)
    return { log, isMore }
  }

  async function* pages() {
    for (let seen = 0, isLast = false; !isLast; ) {
      const { now, members } = await directory.due(logs, seen, PAGE)
      isLast = members.length < PAGE
      seen += members.length
      const found = await Promise.all(members.map(async (due) => (await look(due)).log))
      yield { now, logs: found.filter((log) => log !== undefined) }
    }
  }

  await applyRetention(options, {
    pages,
    async drop({ due, starts }: Log, { since, from, keepsLast }: Retained) {
      for (let at = starts; ; ) {
        const args = [String(at), textOf(since), textOf(from), keepsLast ? '1' : '']
        const { log, isMore } = await look(due, args)
        if (!log || !isMore) return log
        at = log.starts
      }
    },
  })
  await directory.settle(
    logs,
    empty.map((due) => ({ ...due, to: undefined })),
  )
}

/** Without arguments it only looks. */
async function drop(
  { run, keys }: Database,
  due: Due,
  args: readonly string[],
): Promise<{ readonly log: Log | undefined; readonly isMore: boolean }> {
  const { meta, log } = keys.partition(fromText(due.member))
  const answer = await run({ script: DROP_CHUNKS, keys: [meta, log], args, mutates: args.length > 0 })
  const [starts, ends, oldestAt, newestAt, held, more] = answer as [number?, ...number[]]
  if (starts === undefined) return { log: undefined, isMore: false }
  return {
    log: { due, starts, ends: ends!, oldestAt: oldestAt!, newestAt: newestAt!, isLeased: held === 1 },
    isMore: more === 1,
  }
}

/** Lua reads no infinity. */
function textOf(value: number): string {
  return Number.isFinite(value) ? String(value) : ''
}
