import { isRecord } from '../messages/record.ts'
import { isImmutable } from '../storage/checkpointer/config.ts'
import { rememberRecent } from './recent.ts'

/** The number of characters to remember; at most twice as many are kept. */
const REMEMBERED = 2_000_000

const textOf = /* @__PURE__ */ rememberRecent<object, string>(REMEMBERED, ({ length }) => length)

/**
 * `JSON.stringify` of a state. Most items of an immutable list, such as the messages of a function's state,
 * were in the previous state, so the text of each item is created once.
 */
export function stateToJson(state: unknown): string | undefined {
  if (!isRecord(state) || !Object.values(state).some(isImmutableList)) return JSON.stringify(state)
  const fields = Object.entries(state).flatMap(([key, value]) => {
    const text = isImmutableList(value) ? listToJson(value) : JSON.stringify(value)
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`]
  })
  return `{${fields.join(',')}}`
}

const isImmutableList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && isImmutable(value)

function listToJson(items: readonly unknown[]): string {
  const texts = items.map((item) => (isObject(item) ? textOf(item, JSON.stringify) : JSON.stringify(item)))
  return `[${texts.join(',')}]`
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
