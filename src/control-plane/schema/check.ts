import { checkDateTime } from './dates.ts'
import type { Findings } from './findings.ts'
import type { JsonSchema } from './json-schema.ts'
import { checkBoolean, checkInteger, checkNumber } from './numbers.ts'
import { accept, type Outcome, type Problem, plural, refuse } from './problem.ts'
import { checkLiteral, checkText, checkUuid } from './text.ts'

type Loc = Problem['loc']

/**
 * Validates a JSON value, or the strings of a query, as Pydantic 2 does in lax mode: with its conversions and
 * defaults, and without undeclared members. The result is meaningless if there are findings.
 */
export function check(schema: JsonSchema, value: unknown, loc: Loc, findings: Findings): unknown {
  if (schema.anyOf) return value === null ? null : check(schema.anyOf[0], value, loc, findings)
  if (schema.type === 'array') return checkList(schema, value, loc, findings)
  if (schema.type === 'object') return checkObject(schema, value, loc, findings)
  const outcome = checkScalar(schema, value)
  if (outcome.fault === undefined) return outcome.value
  findings.add(outcome.fault, loc, value, schema)
}

export const MISSING = { type: 'missing', msg: 'Field required' } as const

/** A clone, so that callers cannot change the schema. */
export const defaultOf = ({ default: value }: JsonSchema): unknown =>
  typeof value === 'object' ? structuredClone(value) : value

/** Whether the member that could replace another one is also missing. */
const lacks = (given: Readonly<Record<string, unknown>>, other: string | undefined): boolean =>
  other !== undefined && given[other] == null

function checkScalar(schema: JsonSchema, value: unknown): Outcome {
  if (schema.const !== undefined) return checkLiteral([schema.const], value)
  if (schema.enum !== undefined) return checkLiteral(schema.enum, value)
  if (schema.format === 'uuid') return checkUuid(value)
  if (schema.format === 'date-time') return checkDateTime(value)
  if (schema.type === 'string') return checkText(schema, value)
  if (schema.type === 'integer') return checkInteger(schema, value)
  if (schema.type === 'number') return checkNumber(schema, value)
  if (schema.type === 'boolean') return checkBoolean(value)
  if (schema.type === 'null' && value !== null) return refuse('none_required', 'Input should be None')
  return accept(value)
}

function checkList(schema: JsonSchema, value: unknown, loc: Loc, findings: Findings): unknown {
  const refuseList = (type: string, msg: string, ctx?: Problem['ctx']) =>
    findings.add({ type, msg, ...(ctx && { ctx }) }, loc, value, schema)
  if (!Array.isArray(value)) return refuseList('list_type', 'Input should be a valid list')
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items = {} } = schema
  const { length } = value
  const message = (bound: string) => `List should have ${bound} after validation, not ${length}`
  if (length > maxItems) {
    return refuseList('too_long', message(`at most ${plural(maxItems, 'item')}`), {
      field_type: 'List',
      max_length: maxItems,
      actual_length: length,
    })
  }
  const before = findings.problems.length
  const checked: unknown[] = []
  for (const [index, item] of value.entries()) {
    if (findings.isFull) return
    checked.push(check(items, item, [...loc, index], findings))
  }
  if (length < minItems && findings.problems.length === before) {
    return refuseList('too_short', message(`at least ${plural(minItems, 'item')}`), {
      field_type: 'List',
      min_length: minItems,
      actual_length: length,
    })
  }
  return checked
}

function checkObject(schema: JsonSchema, value: unknown, loc: Loc, findings: Findings): unknown {
  const { properties, required = [], requiredWithout = {} } = schema
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const fault = properties
      ? {
          type: 'model_attributes_type',
          msg: 'Input should be a valid dictionary or object to extract fields from',
        }
      : { type: 'dict_type', msg: 'Input should be a valid dictionary' }
    return findings.add(fault, loc, value, schema)
  }
  const further = schema.additionalProperties ?? (properties ? undefined : true)
  if (further === true && !properties) return value
  const given = value as Readonly<Record<string, unknown>>
  const checked: [string, unknown][] = []
  for (const [name, member] of Object.entries(properties ?? {})) {
    if (Object.hasOwn(given, name)) checked.push([name, check(member, given[name], [...loc, name], findings)])
    else if (member.default !== undefined) checked.push([name, defaultOf(member)])
    else if (required.includes(name) || lacks(given, requiredWithout[name]))
      findings.add(MISSING, [...loc, name], value, schema)
  }
  if (further) {
    for (const name of Object.keys(given)) {
      if (findings.isFull) return
      if (properties && Object.hasOwn(properties, name)) continue
      checked.push([name, check(further === true ? {} : further, given[name], [...loc, name], findings)])
    }
  }
  // Not by assignment: `__proto__` is a name like any other.
  return Object.fromEntries(checked)
}
