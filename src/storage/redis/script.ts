import { createHash } from 'node:crypto'

export interface Script {
  readonly text: string
  readonly sha: string
}

/** `clock()`: milliseconds since 1970. `int(n)`: a whole number with all digits; Lua prints only 14. */
const PRELUDE = `
local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local function int(n)
  return string.format('%.0f', n)
end
`

export function script(body: string): Script {
  const text = PRELUDE + body
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}
