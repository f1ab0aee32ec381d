import type { JsonSchema } from './json-schema.ts'
import type { Fault, Problem } from './problem.ts'

type Loc = Problem['loc']

const MAX_PROBLEMS = 50
/** The maximum characters shown of one input, and of all together. */
const MAX_INPUT = 2_048
const MAX_INPUTS = 8_192
/** The longest name in a `loc`: clients choose it. */
const MAX_NAME = 100
const MASK = '**********'

/** Collects the problems of a request, up to a limit that keeps the response to a huge request small. */
export interface Findings {
  readonly problems: Problem[]
  /** Whether the limit is reached. */
  readonly isFull: boolean
  /** `schema` is the input's. The input is masked if it may contain a secret. */
  add(fault: Fault, loc: Loc, input: unknown, schema?: JsonSchema): void
}

interface Shown {
  readonly given: unknown
  readonly schema: JsonSchema | undefined
  readonly input: unknown
  readonly text: string
}

export function createFindings(): Findings {
  const problems: Problem[] = []
  let left = MAX_INPUTS
  /** Each missing member shows the whole object, which can be long: it is masked once. */
  let last: Shown | undefined

  function shown(given: unknown, schema: JsonSchema | undefined): unknown {
    if (left <= 0) return '…'
    if (!last || last.given !== given || last.schema !== schema) {
      const input = schema ? masked(given, schema) : given
      last = { given, schema, input, text: typeof input === 'string' ? input : JSON.stringify(input) }
    }
    const { input, text } = last
    const cut = cutTo(Math.min(left, MAX_INPUT), text)
    left -= cut.length
    return cut === text ? input : cut
  }

  return {
    problems,
    get isFull() {
      return problems.length >= MAX_PROBLEMS
    },
    add({ type, msg, ctx }, loc, input, schema) {
      problems.push({
        type,
        loc: loc.map((step) => (typeof step === 'string' ? cutTo(MAX_NAME, step) : step)),
        msg,
        input: shown(input, schema),
        ...(ctx && { ctx }),
      })
    },
  }
}

const cutTo = (room: number, text: string): string => (text.length > room ? `${text.slice(0, room)}…` : text)

/** A member has at least 5 characters of JSON: those after this one are always cut. */
const MAX_MEMBERS = MAX_INPUT / 4

/** If a schema has a secret, undeclared members are masked too: one may be a misplaced secret. */
function masked(input: unknown, schema: JsonSchema): unknown {
  if (input === null || !holdsSecret(schema)) return input
  const { properties } = schema.anyOf?.[0] ?? schema
  if (!properties || typeof input !== 'object' || Array.isArray(input)) return MASK
  const isOpen = (name: string) => Object.hasOwn(properties, name) && !holdsSecret(properties[name]!)
  const given = input as Readonly<Record<string, unknown>>
  const names = Object.keys(given).slice(0, MAX_MEMBERS)
  return Object.fromEntries(names.map((name) => [name, isOpen(name) ? given[name] : MASK]))
}

function holdsSecret({ anyOf, format, items, properties = {}, additionalProperties }: JsonSchema): boolean {
  const parts = [anyOf?.[0], items, additionalProperties, ...Object.values(properties)]
  return format === 'password' || parts.some((part) => typeof part === 'object' && holdsSecret(part))
}
