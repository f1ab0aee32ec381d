import { script } from '../connection.ts'

/**
 * A document is stored as three lines: `version end stamp`, its index fields, its value. The end is 0 if it
 * never expires. The stamp is that of its directory entries.
 *
 * A log is a stream. An entry is a chunk of an append. Its id is `last-start`: the number of its last event,
 * and the number of bytes ever appended before. Its only field is the time of the commit, in 13 digits, and
 * the layout, with the bytes as value.
 */

/**
 * One commit: checks everything, then writes. ARGV as `encodeChange` creates them; KEYS meta, log, docs,
 * gone. Removed documents are kept in `gone` until their directory entries are removed, because this process
 * may end before that.
 *
 * Returns `1, head` and, unless there was nothing to do, the versions of the documents put, `field, lines` of
 * the documents removed, and the tokens that no longer hold the lease. If a guard or an op fails: `0`, the
 * index of the guard or `-1`, the version found, and the result of `INSPECT`. Too late: `-1`.
 */
export const COMMIT = script(`
local WIDTH = { a = 4, p = 6, d = 2, c = 4, n = 3, x = 2, z = 1 }
local function lines(doc)
  return string.match(doc, '^[^\\n]*\\n[^\\n]*')
end

local now = clock()
if ARGV[3] ~= '' and now > tonumber(ARGV[3]) then
  return { -1 }
end
local meta = redis.call('HMGET', KEYS[1], 'head', 'first', 'token', 'version', 'owner', 'held', 'ends', 'bytes')
local head = tonumber(meta[1] or 0)
local first = tonumber(meta[2] or 1)
local token = tonumber(meta[3] or 0)
local version = tonumber(meta[4] or 0)
local owner = meta[5] or ''
local held = tonumber(meta[6] or 0)
local ends = tonumber(meta[7] or 0)
local bytes = tonumber(meta[8] or 0)

local function refused(place, seen)
  return { 0, place, seen or 0, now, head, first, token, owner, held, ends }
end

local at = 4
local place = 0
while ARGV[at] ~= '.' do
  local guard, given = ARGV[at], tonumber(ARGV[at + 1])
  local holds, seen
  if guard == 'f' then
    holds = held ~= 0 and held == given and ends > now
    at = at + 2
  elseif guard == 'h' then
    holds = head == given
    at = at + 2
  elseif guard == 'r' then
    holds = held == 0 or ends <= now
    at = at + 1
  else
    local number, over = string.match(redis.call('HGET', KEYS[3], ARGV[at + 1]) or '', '^(%d+) (%d+) ')
    if over == '0' or (over and tonumber(over) > now) then
      seen = tonumber(number)
    end
    holds = seen == tonumber(ARGV[at + 2])
    at = at + 3
  end
  if not holds then
    return refused(place, seen)
  end
  place = place + 1
end
at = at + 1
if not ARGV[at] then
  return { 1, head }
end

local holder = held
local issued = token
local i = at
while ARGV[i] do
  local op = ARGV[i]
  if op == 'c' then
    local given = tonumber(ARGV[i + 2])
    if given <= issued then
      return refused(-1)
    end
    issued = given
    holder = given
  elseif op == 'n' then
    if holder == 0 or holder ~= tonumber(ARGV[i + 1]) then
      return refused(-1)
    end
  elseif op == 'z' or (op == 'x' and holder == tonumber(ARGV[i + 1])) then
    holder = 0
  end
  i = i + WIDTH[op]
end

local versions = {}
local gone = {}
local function forget(field, doc)
  gone[#gone + 1] = field
  gone[#gone + 1] = lines(doc)
  redis.call('HSET', KEYS[4], field .. '\\0' .. string.match(doc, '^%d+'), lines(doc))
end
local freed = {}
local function free()
  if held ~= 0 then
    freed[#freed + 1] = held
  end
  held = 0
  ends = 0
end
i = at
while ARGV[i] do
  local op = ARGV[i]
  if op == 'a' then
    head = head + tonumber(ARGV[i + 1])
    redis.call('XADD', KEYS[2], int(head) .. '-' .. int(bytes), int(now) .. ARGV[i + 2], ARGV[i + 3])
    bytes = bytes + #ARGV[i + 3]
  elseif op == 'p' then
    local field = ARGV[i + 1]
    local old = redis.call('HGET', KEYS[3], field)
    if old then
      forget(field, old)
    end
    version = math.max(version + 1, now)
    versions[#versions + 1] = version
    local over = ARGV[i + 3] == '' and '0' or int(now + tonumber(ARGV[i + 3]))
    local header = int(version) .. ' ' .. over .. ' ' .. ARGV[i + 2]
    redis.call('HSET', KEYS[3], field, header .. '\\n' .. ARGV[i + 4] .. '\\n' .. ARGV[i + 5])
  elseif op == 'd' then
    local old = redis.call('HGET', KEYS[3], ARGV[i + 1])
    if old then
      forget(ARGV[i + 1], old)
      redis.call('HDEL', KEYS[3], ARGV[i + 1])
    end
  elseif op == 'c' then
    free()
    owner = ARGV[i + 1]
    token = tonumber(ARGV[i + 2])
    held = token
    ends = now + tonumber(ARGV[i + 3])
  elseif op == 'n' then
    ends = now + tonumber(ARGV[i + 2])
  elseif op == 'x' then
    if held == tonumber(ARGV[i + 1]) then
      free()
    end
  else
    local docs = redis.call('HGETALL', KEYS[3])
    for d = 1, #docs, 2 do
      forget(docs[d], docs[d + 1])
    end
    redis.call('UNLINK', KEYS[2], KEYS[3])
    first = head + 1
    free()
  end
  i = i + WIDTH[op]
end

redis.call('HSET', KEYS[1], 'head', int(head), 'first', int(first), 'token', int(token), 'version', int(version),
  'owner', owner, 'held', int(held), 'ends', int(ends), 'bytes', int(bytes))
redis.call('PUBLISH', ARGV[1], ARGV[2])
return { 1, head, versions, gone, freed }
`)

/**
 * A commit of only events, under a fence and a head or no guard: the most frequent commit, in half the time.
 * KEYS meta, log; ARGV channel, message, `token:head` or '', then `count, layout, data` of each chunk.
 * Returns the head, or -1 if a guard fails or the log is empty.
 */
export const APPEND = script(`
local meta = redis.call('HMGET', KEYS[1], 'head', 'first', 'held', 'ends', 'bytes')
local now = clock()
local head = meta[1]
if not meta[2] or tonumber(meta[2]) > tonumber(head) then
  return -1
end
if ARGV[3] ~= '' and (ARGV[3] ~= meta[3] .. ':' .. head or tonumber(meta[4]) <= now) then
  return -1
end
local bytes = tonumber(meta[5])
for i = 4, #ARGV, 3 do
  head = head + ARGV[i]
  redis.call('XADD', KEYS[2], head .. '-' .. bytes, now .. ARGV[i + 1], ARGV[i + 2])
  bytes = bytes + #ARGV[i + 2]
end
redis.call('HSET', KEYS[1], 'head', head, 'bytes', bytes)
redis.call('PUBLISH', ARGV[1], ARGV[2])
return head
`)
