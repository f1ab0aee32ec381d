import { InvalidRequest } from '../errors.ts'

/** The value of a JSON text. Throws `InvalidRequest` with the place of the first fault, in the words of Python's parser. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const { at, error } = faultIn(text)
    // Python counts characters, not UTF-16 units.
    const loc = ['body', [...text.slice(0, at)].length]
    throw new InvalidRequest([
      { type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx: { error } },
    ])
  }
}

interface Fault {
  readonly at: number
  readonly error: string
}

const SPACE = /[ \t\n\r]*/y
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const PLAIN = /[ !#-[\]-\uffff]*/y

function faultIn(text: string): Fault {
  const open: ('{' | '[')[] = []
  let expected: 'value' | 'item' | 'name' | 'first name' | 'colon' | 'next' = 'value'
  let at = 0
  for (;;) {
    at = skip(SPACE, text, at)
    const character = text[at]
    if (expected === 'next') {
      const inner = open.at(-1)
      if (inner === undefined) return { at, error: 'Extra data' }
      if (character === (inner === '{' ? '}' : ']')) open.pop()
      else if (character === ',') expected = inner === '{' ? 'name' : 'value'
      else return { at, error: "Expecting ',' delimiter" }
      at++
    } else if (expected === 'colon') {
      if (character !== ':') return { at, error: "Expecting ':' delimiter" }
      expected = 'value'
      at++
    } else if (
      (expected === 'first name' && character === '}') ||
      (expected === 'item' && character === ']')
    ) {
      open.pop()
      expected = 'next'
      at++
    } else if (character === '"') {
      const end = endOfString(text, at)
      if (typeof end !== 'number') return end
      expected = expected.endsWith('name') ? 'colon' : 'next'
      at = end
    } else if (expected.endsWith('name')) {
      return { at, error: 'Expecting property name enclosed in double quotes' }
    } else if (character === '{' || character === '[') {
      open.push(character)
      expected = character === '{' ? 'first name' : 'item'
      at++
    } else {
      const end = skip(SCALAR, text, at)
      if (end === at) return { at, error: 'Expecting value' }
      expected = 'next'
      at = end
    }
  }
}

/** The place behind the match that begins at `at`; `at` where nothing matches. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function endOfString(text: string, start: number): number | Fault {
  const unterminated = { at: start, error: 'Unterminated string starting at' }
  for (let at = start + 1; ; ) {
    at = skip(PLAIN, text, at)
    const character = text[at]
    if (character === undefined) return unterminated
    if (character === '"') return at + 1
    if (character !== '\\') return { at, error: 'Invalid control character at' }
    const escaped = text[at + 1]
    if (escaped === undefined) return unterminated
    if (escaped !== 'u') {
      if (!'"\\/bfnrt'.includes(escaped)) return { at, error: 'Invalid \\escape' }
      at += 2
    } else {
      const digits = text.slice(at + 2, at + 6)
      if (!/^[\da-f]{4}$/i.test(digits)) return { at: at + 1, error: 'Invalid \\uXXXX escape' }
      at += 6
    }
  }
}
