import type * as z from 'zod/mini'
import { MAX_PROBLEMS, membersOf, notesOf } from './common.ts'
import type { Fault } from './lax.ts'

type Schema = z.core.$ZodType

/** One problem of a request, in the format of FastAPI with Pydantic 2. */
export interface Problem extends Fault {
  /** `body`, `query` or `path`, then the names and indexes that lead to the value. */
  readonly loc: readonly (string | number)[]
  readonly input: unknown
}

/** The maximum characters shown of one input, and of all together. */
const MAX_INPUT = 2_048
const MAX_INPUTS = 8_192
/** The longest name in a `loc`: clients choose it. */
const MAX_NAME = 100
const MASK = '**********'

export const MISSING: Fault = { type: 'missing', msg: 'Field required' }

/** Collects the problems of a request, up to a limit that keeps the response to a huge request small. */
export interface Findings {
  readonly problems: Problem[]
  /** Adds nothing beyond the limit. `schema` is the input's. The input is masked if it may contain a secret. */
  add(fault: Fault, loc: Problem['loc'], input: unknown, schema?: Schema): void
  /** The value as the schema reads it, which is meaningless if there are problems. */
  read<S extends z.ZodMiniType>(schema: S, value: unknown, loc: Problem['loc']): z.output<S>
}

export function createFindings(): Findings {
  const problems: Problem[] = []
  let left = MAX_INPUTS
  /** Each missing member shows the whole object, which can be long: it is masked once. */
  let last: {
    readonly given: unknown
    readonly schema: unknown
    readonly input: unknown
    readonly text: string
  }

  function shown(given: unknown, schema: Schema | undefined): unknown {
    if (left <= 0) return '…'
    if (last?.given !== given || last.schema !== schema) {
      const input = schema ? masked(given, schema) : given
      last = { given, schema, input, text: typeof input === 'string' ? input : JSON.stringify(input) }
    }
    const { input, text } = last
    const cut = cutTo(Math.min(left, MAX_INPUT), text)
    left -= cut.length
    return cut === text ? input : cut
  }

  const add: Findings['add'] = ({ type, msg, ctx }, loc, input, schema) => {
    if (problems.length >= MAX_PROBLEMS) return
    problems.push({
      type,
      loc: loc.map((step) => (typeof step === 'string' ? cutTo(MAX_NAME, step) : step)),
      msg,
      input: shown(input, schema),
      ...(ctx && { ctx }),
    })
  }

  return {
    problems,
    add,
    read(schema, value, loc) {
      const { success, data, error } = schema.safeParse(value)
      if (success) return data
      for (const issue of error.issues) {
        const { at, parent } = placeOf(issue.path as readonly (string | number)[], { schema, value })
        const whole = [...loc, ...(issue.path as typeof loc)]
        if (at.value === undefined) add(MISSING, whole, parent?.value ?? null, parent?.schema)
        else add(faultOf(issue), whole, at.value, at.schema)
      }
      return undefined as never
    },
  }
}

const cutTo = (room: number, text: string): string => (text.length > room ? `${text.slice(0, room)}…` : text)

interface Place {
  readonly schema: Schema | undefined
  readonly value: unknown
}

/** The value at a path with its schema, and what contains it. */
function placeOf(path: readonly (string | number)[], root: Place): { at: Place; parent?: Place } {
  let at = root
  let parent: Place | undefined
  for (const step of path) {
    parent = at
    const { members, others } = membersOf(at.schema!)
    at = {
      schema: members && Object.hasOwn(members, step) ? members[step] : others,
      value: (at.value as Readonly<Record<string | number, unknown>>)[step],
    }
  }
  return { at, ...(parent && { parent }) }
}

function faultOf(issue: z.core.$ZodIssue): Fault {
  if (issue.code === 'custom') return issue.params as unknown as Fault
  if (issue.code !== 'invalid_value')
    return {
      type: 'model_attributes_type',
      msg: 'Input should be a valid dictionary or object to extract fields from',
    }
  const names = issue.values.map((one) => (typeof one === 'string' ? `'${one}'` : String(one)))
  const last = names.pop()
  const expected = names.length > 0 ? `${names.join(', ')} or ${last}` : last
  return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } }
}

/** A member has at least 5 characters of JSON: those after this one are always cut. */
const MAX_MEMBERS = MAX_INPUT / 4

/** If a schema has a secret, undeclared members are masked too: one may be a misplaced secret. */
function masked(input: unknown, schema: Schema): unknown {
  if (input === null || !holdsSecret(schema)) return input
  const { members } = membersOf(schema)
  if (!members || typeof input !== 'object' || Array.isArray(input)) return MASK
  const isOpen = (name: string) => Object.hasOwn(members, name) && !holdsSecret(members[name]!)
  const given = input as Readonly<Record<string, unknown>>
  const names = Object.keys(given).slice(0, MAX_MEMBERS)
  return Object.fromEntries(names.map((name) => [name, isOpen(name) ? given[name] : MASK]))
}

function holdsSecret(schema: Schema): boolean {
  const { members = {}, others } = membersOf(schema)
  const parts = [...Object.values(members), ...(others ? [others] : [])]
  return notesOf(schema).format === 'password' || parts.some(holdsSecret)
}
