import { echo, shortName } from './echo.ts'
import type { JsonSchema } from './json-schema.ts'
import type { Fault } from './outcome.ts'
import type { Problem } from './problem.ts'

type Loc = Problem['loc']

const MAX_PROBLEMS = 50
/** How many characters of one input are shown, and of all together. */
const MAX_INPUT = 2_048
const MAX_INPUTS = 8_192

/** Gathers what is wrong with a request: so much that the answer to a huge one is small. */
export interface Findings {
  readonly problems: Problem[]
  /** There are so many that nobody needs more. */
  readonly isFull: boolean
  add(fault: Fault, loc: Loc, input: unknown, schema?: JsonSchema): void
}

export function createFindings(): Findings {
  const problems: Problem[] = []
  let left = MAX_INPUTS
  return {
    problems,
    get isFull() {
      return problems.length >= MAX_PROBLEMS
    },
    add({ type, msg, ctx }, loc, input, schema) {
      const room = Math.min(left, MAX_INPUT)
      const { shown, used } = echo(input, room, schema)
      left -= used
      problems.push({
        type,
        loc: loc.map((step) => (typeof step === 'string' ? shortName(step) : step)),
        msg,
        input: shown,
        ...(ctx && { ctx }),
      })
    },
  }
}
