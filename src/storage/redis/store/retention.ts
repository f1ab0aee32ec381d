import { applyRetention, type RetainedLog, type RetentionOptions } from '../../store/retention.ts'
import { fromText } from '../../text.ts'
import type { Database } from '../database.ts'
import type { Directory, Due } from './directory.ts'
import { DROP_CHUNKS } from './scripts-store.ts'

const PAGE = 200

interface Log extends RetainedLog {
  readonly due: Due
}

export async function expireLogs(
  { run, keys }: Database,
  directory: Directory,
  options: RetentionOptions,
): Promise<void> {
  const empty: Due[] = []

  /** Without arguments, it only reads. */
  async function drop(due: Due, args: readonly string[] = []) {
    const { meta, log } = keys.partition(fromText(due.member))
    const answer = await run({ script: DROP_CHUNKS, keys: [meta, log], args, mutates: args.length > 0 })
    const [starts, ends = 0, oldestAt = 0, newestAt = 0, held, more] = answer as number[]
    if (starts === undefined) {
      empty.push(due)
      return { log: undefined, isMore: false }
    }
    const found: Log = { due, starts, ends, oldestAt, newestAt, isLeased: held === 1 }
    return { log: found, isMore: more === 1 }
  }

  await applyRetention(options, {
    async *pages() {
      for (let seen = 0, isLast = false; !isLast; ) {
        const { now, members } = await directory.due(keys.logs, seen, PAGE)
        isLast = members.length < PAGE
        seen += members.length
        const found = await Promise.all(members.map(async (due) => (await drop(due)).log))
        yield { now, logs: found.filter((log) => log !== undefined) }
      }
    },
    async drop({ due, starts }: Log, { since, from, keepsLast }) {
      for (let at = starts; ; ) {
        const args = [String(at), textOf(since), textOf(from), keepsLast ? '1' : '']
        const { log, isMore } = await drop(due, args)
        if (!log || !isMore) return log
        at = log.starts
      }
    },
  })
  await directory.settle(keys.logs, empty)
}

/** Lua cannot parse infinity. */
const textOf = (value: number): string => (Number.isFinite(value) ? String(value) : '')
