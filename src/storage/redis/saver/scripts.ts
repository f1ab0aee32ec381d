import { script } from '../connection.ts'

/**
 * A thread has two keys. `saved` is a hash:
 * - `r`: the tail of its entry among the threads.
 * - `n`: the number of the last value.
 * - `c` + checkpoint: the parent, or '', then the version of each channel with the number of its value, or 0.
 * - `b` + checkpoint: the checkpoint without its values, and its metadata.
 * - `v` + number: a value.
 * - `i` + namespace + version: the numbers of the values with this version.
 * - `w` + checkpoint + task + index: a write.
 * - `k` + checkpoint: its sort key, if it differs from its id.
 *
 * `order` is a set of `c` + place and of the fields of writes. A checkpoint is `namespace NUL id`. Its place
 * is the same, or `namespace NUL sort key NUL id`. A version is `channel NUL version`.
 */
const FENCE = `
if ARGV[1] ~= '' then
  local meta = redis.call('HMGET', KEYS[3], 'held', 'ends')
  if tonumber(meta[1] or 0) ~= tonumber(ARGV[1]) or tonumber(meta[2] or 0) <= clock() then
    return 'fenced'
  end
end
`

/** The checkpoint at a place; a namespace's newest place and newest checkpoint. */
const NEWEST = `
local function checkpoint_at(place)
  local namespace, id = string.match(place, '^([^%z]*)%z[^%z]*%z(.*)$')
  return namespace and namespace .. '\\0' .. id or place
end

local function newest_place(namespace)
  local prefix = 'c' .. namespace .. '\\0'
  local found = redis.call('ZREVRANGEBYLEX', KEYS[2], '(c' .. namespace .. '\\1', '[' .. prefix, 'LIMIT', 0, 1)
  return found[1] and string.sub(found[1], 2)
end

local function newest(namespace)
  local place = newest_place(namespace)
  return place and checkpoint_at(place)
end
`

/**
 * KEYS saved, order, the meta of the fence if any; ARGV token or '', '1' if the latest value counts, the tail
 * to register with or '', namespace, checkpoint, parent or '', body, the number of changed channels,
 * `version, '1' | '0', value` of each, then the versions of the others.
 *
 * Returns 0 when it is done, or 'registered' if another put has registered the thread meanwhile. Otherwise it
 * writes nothing and returns 'fenced', also if the parent was forgotten, 'register' if the thread is new, or the positions of the other
 * channels that have several values.
 */
export const PUT_CHECKPOINT = script(`${FENCE}${NEWEST}
if redis.call('HEXISTS', KEYS[1], 'r') == 0 and ARGV[3] == '' then
  return 'register'
end
local namespace, checkpoint, parent = ARGV[4], ARGV[5], ARGV[6]
if ARGV[1] ~= '' and parent ~= '' and redis.call('HEXISTS', KEYS[1], 'c' .. parent) == 0
  and redis.call('HEXISTS', KEYS[1], 'c' .. checkpoint) == 0 then
  return 'fenced'
end
local changed = tonumber(ARGV[8])
local others = 9 + 3 * changed

local before = {}
if parent ~= '' and ARGV[others] then
  local cells = redis.call('HGET', KEYS[1], 'c' .. parent)
  if cells then
    cells = cmsgpack.unpack(cells)
    for i = 2, #cells, 2 do
      before[cells[i]] = cells[i + 1]
    end
  end
end
local cells = { parent }
local ambiguous = {}
for i = others, #ARGV do
  local version = ARGV[i]
  local number = before[version]
  if not number then
    local numbers = redis.call('HGET', KEYS[1], 'i' .. namespace .. '\\0' .. version) or '0'
    if ARGV[2] == '' and string.find(numbers, ',', 1, true) then
      ambiguous[#ambiguous + 1] = i - others
    end
    number = tonumber(string.match(numbers, '%d+$'))
  end
  cells[#cells + 1] = version
  cells[#cells + 1] = number
end
if #ambiguous > 0 then
  return ambiguous
end

local done = 0
if ARGV[3] ~= '' and redis.call('HSETNX', KEYS[1], 'r', ARGV[3]) == 0 then
  done = 'registered'
end
for i = 9, others - 1, 3 do
  local version = ARGV[i]
  local number = 0
  if ARGV[i + 1] == '1' then
    number = redis.call('HINCRBY', KEYS[1], 'n', 1)
    redis.call('HSET', KEYS[1], 'v' .. number, ARGV[i + 2])
    local field = 'i' .. namespace .. '\\0' .. version
    local numbers = redis.call('HGET', KEYS[1], field)
    redis.call('HSET', KEYS[1], field, numbers and numbers .. ',' .. number or number)
  end
  cells[#cells + 1] = version
  cells[#cells + 1] = number
end
if redis.call('HEXISTS', KEYS[1], 'c' .. checkpoint) == 0 then
  local last = newest_place(namespace)
  redis.call('ZADD', KEYS[2], 0, 'c' .. checkpoint)
  -- Redis compares, because Lua does it by the locale.
  if last and newest_place(namespace) == last then
    local id = string.sub(checkpoint, #namespace + 2)
    local greatest, count = string.match(last, '%z(.*)~(%d+)%z')
    local key = string.format('%s~%08d', greatest or string.sub(last, #namespace + 2), (count or 0) + 1)
    redis.call('ZREM', KEYS[2], 'c' .. checkpoint)
    redis.call('HSET', KEYS[1], 'k' .. checkpoint, key)
    redis.call('ZADD', KEYS[2], 0, 'c' .. namespace .. '\0' .. key .. '\0' .. id)
  end
end
redis.call('HSET', KEYS[1], 'c' .. checkpoint, cmsgpack.pack(cells), 'b' .. checkpoint, ARGV[7])
return done
`)

/** KEYS as above; ARGV token or '', then `field, '1' if the last one counts, write`. */
export const PUT_WRITES = script(`${FENCE}
for i = 2, #ARGV, 3 do
  if ARGV[i + 1] == '1' then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
  else
    redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 2])
  end
  redis.call('ZADD', KEYS[2], 0, ARGV[i])
end
return 0
`)

/** KEYS as above; ARGV token or ''. Returns the tail that the thread was registered with. */
export const DELETE_THREAD = script(`${FENCE}
local tail = redis.call('HGET', KEYS[1], 'r')
redis.call('UNLINK', KEYS[1], KEYS[2])
return tail
`)

const WRITES = `${NEWEST}
local function asked_for(asked)
  local name = string.sub(asked, 2)
  if string.sub(asked, 1, 1) == 'n' then
    return newest(name)
  end
  return name
end

local function writes(checkpoint)
  local from = 'w' .. checkpoint
  local found = redis.call('ZRANGEBYLEX', KEYS[2], '[' .. from .. '\\0', '(' .. from .. '\\1')
  local all = {}
  for _, field in ipairs(found) do
    all[#all + 1] = field
    all[#all + 1] = redis.call('HGET', KEYS[1], field)
  end
  return all
end
`

/**
 * KEYS saved, order; ARGV checkpoints, each after `c`, or namespaces after `n` for their newest. Returns
 * `checkpoint, body, cells, writes` of each, or 0 if it does not exist, and `number, value` of all their
 * cells.
 */
export const LOAD = script(`${WRITES}
local found = {}
local values = {}
local known = {}
for i, asked in ipairs(ARGV) do
  local checkpoint = asked_for(asked)
  local cells = checkpoint and redis.call('HGET', KEYS[1], 'c' .. checkpoint)
  found[i] = 0
  if cells then
    cells = cmsgpack.unpack(cells)
    for k = 3, #cells, 2 do
      local number = cells[k]
      if number > 0 and not known[number] then
        known[number] = true
        values[#values + 1] = number
        values[#values + 1] = redis.call('HGET', KEYS[1], 'v' .. number)
      end
    end
    found[i] = { checkpoint, redis.call('HGET', KEYS[1], 'b' .. checkpoint), cells, writes(checkpoint) }
  end
end
return { found, values }
`)

/** KEYS saved; ARGV checkpoint. Returns its sort key, if it has one. */
export const SORT_KEY = script(`
return redis.call('HGET', KEYS[1], 'k' .. ARGV[1])
`)

/** KEYS order; ARGV from, to, count or -1. Returns a part of the order, descending. */
export const LIST_ORDER = script(`
return redis.call('ZREVRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
`)

/**
 * KEYS saved, order; ARGV a checkpoint or namespace as above, a count, then channels. Returns
 * `checkpoint, cells, writes to those channels` for it and its ancestors, nearest first.
 */
export const ANCESTORS = script(`${WRITES}
local channels = {}
for i = 3, #ARGV do
  channels[ARGV[i]] = true
end
local checkpoint = asked_for(ARGV[1]) or ''
local found = {}
while checkpoint ~= '' and #found < tonumber(ARGV[2]) do
  local cells = redis.call('HGET', KEYS[1], 'c' .. checkpoint)
  if not cells then
    break
  end
  cells = cmsgpack.unpack(cells)
  local all = writes(checkpoint)
  local wanted = {}
  for i = 1, #all, 2 do
    local channel = string.sub(all[i + 1], 1, string.find(all[i + 1], '\\0', 1, true) - 1)
    if channels[channel] then
      wanted[#wanted + 1] = all[i]
      wanted[#wanted + 1] = all[i + 1]
    end
  end
  found[#found + 1] = { checkpoint, cells, wanted }
  checkpoint = cells[1]
end
return found
`)

/**
 * KEYS as above; ARGV token or '', then for each namespace: its name, its newest checkpoint, the number of
 * checkpoints to keep, and these. A namespace with a newer checkpoint stays unchanged.
 */
export const KEEP_ONLY = script(`${FENCE}${NEWEST}
local function delete(field)
  redis.call('HDEL', KEYS[1], field)
  redis.call('ZREM', KEYS[2], field)
end

local function keep_only(namespace, last, stays)
  local used = {}
  local versions = {}
  local gone = {}
  for _, place in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], '[c' .. namespace .. '\\0', '(c' .. namespace .. '\\1')) do
    local checkpoint = checkpoint_at(string.sub(place, 2))
    local cells = cmsgpack.unpack(redis.call('HGET', KEYS[1], 'c' .. checkpoint))
    for i = 2, #cells, 2 do
      versions[cells[i]] = true
      if stays[checkpoint] then
        used[cells[i + 1]] = true
      end
    end
    if not stays[checkpoint] then
      gone[#gone + 1] = 'w' .. checkpoint .. '\\0'
      redis.call('ZREM', KEYS[2], place)
      redis.call('HDEL', KEYS[1], 'c' .. checkpoint, 'b' .. checkpoint, 'k' .. checkpoint)
    end
  end
  -- Writes may come before their checkpoint.
  gone[#gone + 1] = 'w' .. namespace .. '\\0'
  for i, from in ipairs(gone) do
    local to = i < #gone and string.sub(from, 1, -2) or 'w' .. last
    for _, field in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], '[' .. from, '(' .. to .. '\\1')) do
      if not stays[string.match(field, '^w([^%z]*%z[^%z]*)')] then
        delete(field)
      end
    end
  end
  for version in pairs(versions) do
    local field = 'i' .. namespace .. '\\0' .. version
    local left = {}
    for number in string.gmatch(redis.call('HGET', KEYS[1], field) or '', '%d+') do
      if used[tonumber(number)] then
        left[#left + 1] = number
      else
        redis.call('HDEL', KEYS[1], 'v' .. number)
      end
    end
    if #left > 0 then
      redis.call('HSET', KEYS[1], field, table.concat(left, ','))
    else
      redis.call('HDEL', KEYS[1], field)
    end
  end
end

local i = 2
while ARGV[i] do
  local stays = {}
  local following = i + 3 + tonumber(ARGV[i + 2])
  for k = i + 3, following - 1 do
    stays[ARGV[k]] = true
  end
  if newest(ARGV[i]) == ARGV[i + 1] then
    keep_only(ARGV[i], ARGV[i + 1], stays)
  end
  i = following
end
return 0
`)
