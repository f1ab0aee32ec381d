import { script } from '../script.ts'
import { FENCE, NEWEST } from './scripts-saver.ts'

/**
 * KEYS saved, order, the meta of the fence if any; ARGV token or '', then for each namespace: its name, its newest checkpoint, how many
 * checkpoints stay, and these. Gives 0 or 'fenced'. A namespace with a newer checkpoint stays as it is.
 */
export const KEEP_ONLY = script(`${FENCE}${NEWEST}
if is_fenced(KEYS[3]) then
  return 'fenced'
end

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
