import { script } from '../connection.ts'

/**
 * KEYS meta, docs; ARGV fields. Returns `now, head, first, token, owner, held, ends` and the values of the
 * fields.
 */
export const INSPECT = script(`
local meta = redis.call('HMGET', KEYS[1], 'head', 'first', 'token', 'owner', 'held', 'ends')
local state = {
  clock(), tonumber(meta[1] or 0), tonumber(meta[2] or 1), tonumber(meta[3] or 0), meta[4] or '',
  tonumber(meta[5] or 0), tonumber(meta[6] or 0),
}
if #ARGV == 0 then
  return { state }
end
return { state, unpack(redis.call('HMGET', KEYS[2], unpack(ARGV))) }
`)

/**
 * KEYS meta, log; ARGV after, limit, bytes. Returns `head, first` and, if there are events after `after`, the
 * number of the first chunk's last event, the layouts separated by commas, and the bytes of each chunk, which
 * Lua would take long to join: at most `limit` chunks, until they hold `bytes` bytes.
 */
export const READ = script(`
local meta = redis.call('HMGET', KEYS[1], 'head', 'first')
local head = tonumber(meta[1] or 0)
local first = tonumber(meta[2] or 1)
local since = math.max(tonumber(ARGV[1]) + 1, first)
if since > head then
  return { head, first }
end
local limit = tonumber(ARGV[2])
local bytes = tonumber(ARGV[3])
local layouts = {}
local data = {}
local size = 0
local first_last
local from = int(since) .. '-0'
local page = math.min(limit, 4)
repeat
  local chunks = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', page)
  for i = 1, #chunks do
    local chunk = chunks[i]
    layouts[#layouts + 1] = string.sub(chunk[2][1], 14)
    data[#data + 1] = chunk[2][2]
    size = size + #chunk[2][2]
    if size >= bytes then
      break
    end
  end
  if #chunks > 0 then
    first_last = first_last or tonumber(string.match(chunks[1][1], '^%d+'))
    from = '(' .. chunks[#chunks][1]
  end
  local done = #chunks < page or size >= bytes or #layouts >= limit
  page = math.min(limit - #layouts, 512, math.ceil((bytes - size) * #data / (size + 1)) + 1)
until done
return { head, first, first_last, table.concat(layouts, ','), data }
`)

/**
 * `drop` removes the first chunks, up to the first one to keep or a hundred more than `most`, and returns
 * their number.
 */
const CHUNKS = `
local function last_of(chunk)
  return tonumber(string.match(chunk[1], '^%d+'))
end
local function time_of(chunk)
  return tonumber(string.sub(chunk[2][1], 1, 13))
end
local function drop_before(first)
  redis.call('XTRIM', KEYS[2], 'MINID', int(first))
  redis.call('HSET', KEYS[1], 'first', int(first))
end
local function drop(stays, most)
  local dropped = 0
  local from = '-'
  local kept
  repeat
    local chunks = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', 100)
    local done = #chunks < 100
    for _, chunk in ipairs(chunks) do
      if stays(chunk) then
        done = true
        break
      end
      kept = last_of(chunk) + 1
      from = '(' .. chunk[1]
      dropped = dropped + 1
    end
  until done or dropped >= most
  if kept then
    drop_before(kept)
  end
  return dropped
end
`

/** KEYS meta, log; ARGV the number of events to keep or '', the age to keep in milliseconds or ''. */
export const TRIM = script(`${CHUNKS}
if ARGV[1] == '' then
  local before = clock() - tonumber(ARGV[2])
  drop(function(chunk) return time_of(chunk) >= before end, math.huge)
  return 1
end
local meta = redis.call('HMGET', KEYS[1], 'head', 'first')
local kept = tonumber(meta[1] or 0) - tonumber(ARGV[1]) + 1
if kept > tonumber(meta[2] or 1) then
  drop_before(kept)
end
return 1
`)

/**
 * Removes the first chunks, about a thousand at most, up to the first one to keep (see `Retained`), unless
 * the lease was not released or the log starts elsewhere. KEYS meta, log; ARGV where it starts, since or '',
 * from or '', '1' if the last chunk stays wherever it starts. Without any, it only reads.
 *
 * Returns where the log starts and ends among all bytes ever appended, when its first and last chunks were
 * appended, 1 if the lease is held, and 1 if there may be more to remove; nothing for an empty log.
 */
export const DROP_CHUNKS = script(`${CHUNKS}
local meta = redis.call('HMGET', KEYS[1], 'head', 'held', 'bytes')
local function first_chunk()
  return redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
end
local function start_of(chunk)
  return tonumber(string.match(chunk[1], '%d+$'))
end
local since = tonumber(ARGV[2])
local keep_from = tonumber(ARGV[3])
local function stays(chunk)
  if since and time_of(chunk) < since then
    return false
  end
  return not keep_from or start_of(chunk) >= keep_from or (ARGV[4] == '1' and last_of(chunk) == tonumber(meta[1]))
end

local oldest = first_chunk()
local held = (meta[2] or '0') ~= '0'
local dropped = 0
if oldest and not held and start_of(oldest) == tonumber(ARGV[1]) then
  dropped = drop(stays, 1000)
  oldest = first_chunk()
end
if not oldest then
  return {}
end
local newest = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
return {
  start_of(oldest), tonumber(meta[3]), time_of(oldest), time_of(newest), held and 1 or 0, dropped >= 1000 and 1 or 0,
}
`)

/** KEYS docs; ARGV fields. Returns the time, then the value of each field. */
export const DOCUMENTS = script(`
local found = { clock() }
for i, field in ipairs(ARGV) do
  found[i + 1] = redis.call('HGET', KEYS[1], field)
end
return found
`)

/**
 * KEYS docs; ARGV `field, stamp`. Removes the expired ones. Returns for each the lines before its value if it
 * was removed, 0 if it stays, and nothing if no document has that stamp.
 */
export const EXPIRE = script(`
local now = clock()
local found = {}
for i = 1, #ARGV, 2 do
  local doc = redis.call('HGET', KEYS[1], ARGV[i])
  local over, stamp = string.match(doc or '', '^%d+ (%d+) (%S+)\\n')
  local answer = false
  if stamp == ARGV[i + 1] then
    answer = 0
    if over ~= '0' and tonumber(over) <= now then
      redis.call('HDEL', KEYS[1], ARGV[i])
      answer = string.match(doc, '^[^\\n]*\\n[^\\n]*')
    end
  end
  found[#found + 1] = answer
end
return found
`)
