import { script } from '../connection.ts'
import type { Database } from '../database.ts'
import { type Entry, pairsOf, toUtf8 } from './entries.ts'

export interface Due {
  readonly member: string
  readonly score: number
}

/** A member to move, or to remove if it has no time. */
export interface Moved extends Due {
  readonly to?: number | undefined
}

/**
 * How long after `enter` the commit may still run. An older member that its partition does not know belongs
 * to a failed commit.
 */
export const GRACE_MS = 600_000
const BATCH = 500

export type Directory = ReturnType<typeof createDirectory>

/**
 * The sets across partitions: documents by collection and index, leases and documents by expiry time, threads
 * with checkpoints. They are in one slot, so a commit cannot write them in its own script. Instead, a member
 * is entered before the commit that needs it, and removed after the commit that invalidates it. So the sets
 * have all required members, sometimes extra ones, and a reader checks the partition.
 */
export function createDirectory({ run, later }: Database) {
  async function inBatches<T>(items: readonly T[], work: (batch: readonly T[]) => Promise<unknown>) {
    for (let at = 0; at < items.length; at += BATCH) await work(items.slice(at, at + BATCH))
  }

  /** The sets of the entries, and for each entry the number of its set in Lua. */
  function setsOf(entries: readonly Entry[]) {
    const sets = [...new Set(entries.map(({ set }) => set))]
    return { sets, numberOf: (set: string) => String(sets.indexOf(set) + 1) }
  }

  const remove = (entries: readonly Entry[]): Promise<void> =>
    inBatches(entries, (batch) => {
      const { sets, numberOf } = setsOf(batch)
      const args = batch.flatMap(({ set, member }) => [numberOf(set), member])
      return run({ script: LEAVE, keys: sets, args })
    })

  return {
    /** Returns the server's time, and the entries that did not exist before. */
    async enter(entries: readonly Entry[], signal?: AbortSignal | undefined) {
      let time = ''
      const added: Entry[] = []
      await inBatches(entries, async (batch) => {
        const { sets, numberOf } = setsOf(batch)
        const args = batch.flatMap(({ set, ttlMs = '', member, tail = '' }) => [
          ...[numberOf(set), String(ttlMs), member, tail],
        ])
        const answer = await run({ script: ENTER, keys: sets, args: [time, ...args], signal })
        const [now, ...places] = answer as [number, ...number[]]
        time = String(now)
        for (const place of places) added.push(batch[place]!)
      })
      return { now: Number(time), added }
    },
    remove,
    /** Removes entries without being awaited: an extra member is harmless. */
    leave(entries: readonly Entry[]): void {
      if (entries.length > 0) later(() => remove(entries))
    },
    /** The due members of a set ordered by time, earliest first. */
    async due(set: string, skip: number, count: number) {
      const answer = await run({ script: DUE, keys: [set], args: [String(skip), String(count)] })
      const [now, ...flat] = answer as [number, ...Uint8Array[]]
      const members = pairsOf(flat).map(([member, score]): Due => {
        return { member: toUtf8(member), score: Number(toUtf8(score)) }
      })
      return { now: Number(now), members }
    },
    /** Moves or removes members, unless another process has moved them meanwhile. */
    settle: (set: string, changes: readonly Moved[]): Promise<void> =>
      inBatches(changes, (batch) => {
        const args = batch.flatMap(({ member, score, to = '' }) => [member, String(score), String(to)])
        return run({ script: SETTLE, keys: [set], args })
      }),
  }
}

/**
 * KEYS sets; ARGV the time or '', then `number of the set, ttl or '', member, tail or ''`. The score of a
 * member with a ttl is its expiry time. If the member existed before, the score is half a millisecond less,
 * which tells the process that had entered it. A tail is appended to the member after the time. Returns the
 * time, then the positions of the new members.
 */
const ENTER = script(`
local now = ARGV[1] == '' and clock() or tonumber(ARGV[1])
local new = { now }
for i = 2, #ARGV, 4 do
  local score = ARGV[i + 1] == '' and 0 or now + tonumber(ARGV[i + 1])
  local member = ARGV[i + 2]
  if ARGV[i + 3] ~= '' then
    member = member .. int(now) .. ARGV[i + 3]
  end
  if redis.call('ZADD', KEYS[tonumber(ARGV[i])], score, member) == 1 then
    new[#new + 1] = (i - 2) / 4
  elseif score > now then
    redis.call('ZADD', KEYS[tonumber(ARGV[i])], score - 0.5, member)
  end
end
return new
`)

/** KEYS sets; ARGV `number of the set, member`. */
export const LEAVE = script(`
for i = 1, #ARGV, 2 do
  redis.call('ZREM', KEYS[tonumber(ARGV[i])], ARGV[i + 1])
end
return 1
`)

/** KEYS set; ARGV offset, count. Returns the time, then `member, score` of due members, earliest first. */
const DUE = script(`
local now = clock()
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', int(now), 'WITHSCORES', 'LIMIT', ARGV[1], ARGV[2])
table.insert(due, 1, now)
return due
`)

/** KEYS set; ARGV `member, score read, new score or ''`. Skips members that were moved meanwhile. */
const SETTLE = script(`
for i = 1, #ARGV, 3 do
  local score = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if score and tonumber(score) == tonumber(ARGV[i + 1]) then
    if ARGV[i + 2] == '' then
      redis.call('ZREM', KEYS[1], ARGV[i])
    else
      redis.call('ZADD', KEYS[1], ARGV[i + 2], ARGV[i])
    end
  end
end
return 1
`)

/**
 * Walks a set of documents in order, for members `[key \\0] partition \\0 id \\0 stamp` that are in other
 * sets too.
 *
 * KEYS the set, then the others; ARGV from, to, 'd' if descending, members wanted, members to read, '1' if
 * members have a key, the required prefix after the key, '1' if another set may be returned completely,
 * members to skip, then for each of the others its key with NUL, and the required prefix of its members,
 * which ends with NUL.
 *
 * Returns the time, 1 at the end of the set or 0 before it, the last member read, and the members found; or,
 * instead of 1 or 0, the number of another set, the smallest, and its members in no particular order. Loading
 * a document costs about as much as reading 15 members.
 */
export const WALK = script(`
local now = clock()
local from, to, wanted, most = ARGV[1], ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local command = ARGV[3] == 'd' and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX'
local start = ARGV[7]

if ARGV[8] == '1' then
  local smallest, place
  for k = 2, #KEYS do
    local prefix = ARGV[2 * k + 7]
    local count = redis.call('ZLEXCOUNT', KEYS[k], '[' .. prefix, '(' .. string.sub(prefix, 1, -2) .. '\\1')
    if not smallest or count < smallest then
      smallest = count
      place = k
    end
  end
  if smallest and smallest * smallest * 15 <= wanted * redis.call('ZCARD', KEYS[1]) then
    local prefix = ARGV[2 * place + 7]
    local stop = '(' .. string.sub(prefix, 1, -2) .. '\\1'
    return { now, place, '', redis.call('ZRANGEBYLEX', KEYS[place], '[' .. prefix, stop) }
  end
end

local found = {}
local looked = 0
local last = ''
local ended = 0
local skip = ARGV[9]
while true do
  local most_of_page = #KEYS == 1 and start == '' and wanted - #found or 200
  local page = redis.call(command, KEYS[1], from, to, 'LIMIT', skip, most_of_page)
  skip = 0
  for _, member in ipairs(page) do
    last = member
    looked = looked + 1
    local rest = member
    if ARGV[6] == '1' then
      rest = string.sub(member, string.find(member, '\\0', 1, true) + 1)
    end
    local fits = string.sub(rest, 1, #start) == start
    for k = 2, #KEYS do
      fits = fits and redis.call('ZSCORE', KEYS[k], ARGV[2 * k + 6] .. rest)
    end
    if fits then
      found[#found + 1] = member
      if #found >= wanted then
        return { now, 0, last, found }
      end
    end
  end
  if #page < most_of_page then
    ended = 1
    break
  end
  if looked >= most then
    break
  end
  from = '(' .. last
end
return { now, ended, last, found }
`)
