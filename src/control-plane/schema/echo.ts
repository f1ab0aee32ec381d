import type { JsonSchema } from './json-schema.ts'

const CUT = '…'
const MASK = '**********'
const MAX_NAME = 100

/** A name of a member, which whoever sent it chose. */
export const shortName = (name: string): string =>
  name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}${CUT}` : name

/**
 * A value as the answer to its sender shows it: cut to about `room` characters, and with every secret masked. Where a schema holds a
 * secret, what it does not describe is masked too, because a secret may stand in the wrong place.
 */
export function echo(
  value: unknown,
  room: number,
  schema?: JsonSchema,
): { readonly shown: unknown; readonly used: number } {
  const budget = { left: room }
  const shown = show(value, budget, secretIn(schema))
  return { shown, used: room - budget.left }
}

interface Budget {
  left: number
}

/** `secret` is a schema that holds a secret; undefined where nothing of the value is one. */
function show(value: unknown, budget: Budget, secret: JsonSchema | undefined): unknown {
  if (budget.left <= 0) return CUT
  budget.left -= 2
  if (value === null) return null
  if (Array.isArray(value)) {
    return secret && !secret.items ? MASK : showList(value, budget, secretIn(secret?.items))
  }
  if (typeof value === 'object') {
    if (secret && secret.type !== 'object') return MASK
    return showObject(value as Readonly<Record<string, unknown>>, budget, secret)
  }
  if (secret) return MASK
  if (typeof value !== 'string') return value
  const room = budget.left
  budget.left -= value.length
  return value.length <= room ? value : `${value.slice(0, Math.max(room, 0))}${CUT}`
}

function showList(list: readonly unknown[], budget: Budget, secret: JsonSchema | undefined): unknown[] {
  const shown: unknown[] = []
  for (const item of list) {
    shown.push(show(item, budget, secret))
    if (budget.left <= 0 && shown.length < list.length) return [...shown, CUT]
  }
  return shown
}

function showObject(
  value: Readonly<Record<string, unknown>>,
  budget: Budget,
  secret: JsonSchema | undefined,
): object {
  const shown: [string, unknown][] = []
  for (const name of Object.keys(value)) {
    if (budget.left <= 0) {
      shown.push([CUT, CUT])
      break
    }
    budget.left -= name.length
    const described = secret && memberOf(secret, name)
    const isUnknown = secret !== undefined && described === undefined
    shown.push([shortName(name), isUnknown ? MASK : show(value[name], budget, secretIn(described))])
  }
  // An own member, also where the name is `__proto__`.
  return Object.fromEntries(shown)
}

function memberOf({ properties, additionalProperties }: JsonSchema, name: string): JsonSchema | undefined {
  if (properties && Object.hasOwn(properties, name)) return properties[name]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** The schema without its `null`, where it holds a secret. */
function secretIn(schema: JsonSchema | undefined): JsonSchema | undefined {
  if (schema?.anyOf) return secretIn(schema.anyOf[0])
  return schema && holdsSecret(schema) ? schema : undefined
}

function holdsSecret(schema: JsonSchema): boolean {
  if (schema.format === 'password') return true
  const { items, properties = {}, additionalProperties } = schema
  const parts = [items, additionalProperties, ...Object.values(properties)]
  return parts.some((part) => typeof part === 'object' && secretIn(part) !== undefined)
}
