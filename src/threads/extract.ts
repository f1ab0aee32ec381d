import { map, record, refuse } from '../face/schema.ts'

/** A path into JSON, such as `values.messages[-1].content`: keys, and places in lists, of which negative ones count from the end. */
export type JsonPath = readonly (string | number)[]

const MAX_LENGTH = 500
const MAX_PATHS = 10
const STEP = /\.?([^.[\]]+)|\[(-?\d{1,9})\]/y

function stepsOf(text: string): JsonPath | undefined {
  const steps: (string | number)[] = []
  STEP.lastIndex = 0
  while (STEP.lastIndex < text.length && text.length <= MAX_LENGTH) {
    const step = STEP.exec(text)
    if (!step) break
    steps.push(step[1] ?? Number(step[2]))
    if (STEP.lastIndex === text.length && text[0] !== '.') return steps
  }
  return undefined
}

/** Paths by the names under which a search answers what is there. */
export const pathsSchema = /* @__PURE__ */ map(record, (given, payload) => {
  const entries = Object.entries(given)
  if (entries.length > MAX_PATHS) refuse(payload, `at most ${MAX_PATHS} paths`)
  return entries.map(([alias, text]): readonly [alias: string, path: JsonPath] => {
    const path = typeof text === 'string' ? stepsOf(text) : refuse(payload, 'a string', alias)
    const expected = `a path such as values.messages[-1].content, of at most ${MAX_LENGTH} characters`
    return [alias, path ?? refuse(payload, expected, alias)]
  })
})

/** What is at a path of JSON, or null where there is nothing. */
export function valueAt(json: unknown, path: JsonPath): unknown {
  let at = json
  for (const step of path) {
    if (typeof step === 'number') at = Array.isArray(at) ? at.at(step) : undefined
    else at = isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined
  }
  return at ?? null
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
