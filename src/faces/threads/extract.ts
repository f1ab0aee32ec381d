import { isRecord } from '../../messages/record.ts'

/**
 * A path into JSON, such as `values.messages[-1].content`: keys and list indexes. Negative indexes count from
 * the end.
 */
export type JsonPath = readonly (string | number)[]

/** The maximum length of a path, in characters. */
export const MAX_PATH = 500
const STEP = /\.?([^.[\]]+)|\[(-?\d{1,9})\]/y

/** The steps of a path. Undefined for text that is not a path. */
export function stepsOf(text: string): JsonPath | undefined {
  const steps: (string | number)[] = []
  STEP.lastIndex = 0
  while (STEP.lastIndex < text.length && text.length <= MAX_PATH) {
    const step = STEP.exec(text)
    if (!step) break
    steps.push(step[1] ?? Number(step[2]))
    if (STEP.lastIndex === text.length && text[0] !== '.') return steps
  }
  return undefined
}

/** The value at a path of JSON, or null if there is none. */
export function valueAt(json: unknown, path: JsonPath): unknown {
  let at = json
  for (const step of path) {
    if (typeof step === 'number') at = Array.isArray(at) ? at.at(step) : undefined
    else at = isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined
  }
  return at ?? null
}
