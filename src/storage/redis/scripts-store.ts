import { script } from './script.ts'

/** KEYS meta. Gives `now, head, first, token, owner, held, ends`. */
export const INSPECT = script(`
local meta = redis.call('HMGET', KEYS[1], 'head', 'first', 'token', 'owner', 'held', 'ends')
return {
  clock(), tonumber(meta[1] or 0), tonumber(meta[2] or 1), tonumber(meta[3] or 0), meta[4] or '',
  tonumber(meta[5] or 0), tonumber(meta[6] or 0),
}
`)

/**
 * KEYS meta, log; ARGV after, limit, bytes. Gives `head, first` and, where there are events after `after`, the number of the last event of the first
 * chunk, the layouts with commas between, and the bytes of all chunks in one: chunks until they hold `limit` events or `bytes` bytes.
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
local last = since - 1
local from = int(since) .. '-0'
local page = 16
repeat
  local chunks = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', page)
  for _, chunk in ipairs(chunks) do
    last = tonumber(string.match(chunk[1], '^%d+'))
    first_last = first_last or last
    layouts[#layouts + 1] = chunk[2][1]
    data[#data + 1] = chunk[2][2]
    size = size + #chunk[2][2]
    if size >= bytes or last - since + 1 >= limit then
      break
    end
  end
  local done = #chunks < page or size >= bytes or last - since + 1 >= limit
  from = int(last + 1) .. '-0'
  page = math.min(512, math.ceil((bytes - size) / (size / #data + 1)) + 4)
until done
return { head, first, first_last, table.concat(layouts, ','), table.concat(data) }
`)

/** KEYS meta, log; ARGV the number of events to keep or '', the age to keep in milliseconds or ''. Whole chunks only go. */
export const TRIM = script(`
local meta = redis.call('HMGET', KEYS[1], 'head', 'first')
local head = tonumber(meta[1] or 0)
local first = tonumber(meta[2] or 1)
local kept = first
if ARGV[1] ~= '' then
  kept = head - tonumber(ARGV[1]) + 1
else
  local before = clock() - tonumber(ARGV[2])
  local from = '-'
  repeat
    local chunks = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', 100)
    local young = false
    for _, chunk in ipairs(chunks) do
      local last, at = string.match(chunk[1], '^(%d+)-(%d+)$')
      if tonumber(at) >= before then
        young = true
        break
      end
      kept = tonumber(last) + 1
      from = '(' .. chunk[1]
    end
  until young or #chunks < 100
end
if kept > first then
  redis.call('XTRIM', KEYS[2], 'MINID', int(kept))
  redis.call('HSET', KEYS[1], 'first', int(kept))
end
return 1
`)

/** KEYS docs; ARGV fields. Gives the time, then what each field has. */
export const DOCUMENTS = script(`
local found = { clock() }
for i, field in ipairs(ARGV) do
  found[i + 1] = redis.call('HGET', KEYS[1], field)
end
return found
`)

/**
 * KEYS docs; ARGV `field, stamp`. Removes those whose time is over. Gives for each the lines before its value where it went, 0 where it
 * stays, and nothing where no document has that stamp.
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
      local first = string.find(doc, '\\n', 1, true)
      answer = string.sub(doc, 1, string.find(doc, '\\n', first + 1, true) - 1)
    end
  end
  found[#found + 1] = answer
end
return found
`)
