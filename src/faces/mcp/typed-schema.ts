import type { JsonSchema } from '../../agents/description.ts'
import { isRecord } from '../../messages/record.ts'

/** The types of a property that accepts anything. */
const ANY = ['string', 'number', 'boolean', 'object', 'array']

/** The types of JSON values, with those of JSON Schema. */
const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

const schemasIn = (value: unknown): readonly JsonSchema[] =>
  Array.isArray(value) ? value.filter(isRecord) : []

/**
 * The same schema, in which each property has a `type`, because Gemini rejects a tool with a property that
 * has none. The types are those that the property's other keywords allow.
 */
export function withTypes(schema: JsonSchema): JsonSchema {
  const definitions = { ...Object(schema.definitions), ...Object(schema.$defs) } as Record<string, unknown>

  /** The types that a schema accepts, or undefined if it says nothing about them. */
  function typesOf(one: JsonSchema, seen: readonly unknown[] = []): readonly string[] | undefined {
    if (one.type !== undefined) return [one.type].flat() as string[]
    if ('const' in one) return [typeOf(one.const)]
    if (Array.isArray(one.enum)) return [...new Set(one.enum.map(typeOf))]
    const branches = [...schemasIn(one.anyOf), ...schemasIn(one.oneOf)]
    if (branches.length > 0) {
      const all = branches.map((branch) => typesOf(branch, seen))
      return all.includes(undefined) ? undefined : [...new Set(all.flatMap((types) => types ?? []))]
    }
    for (const part of schemasIn(one.allOf)) {
      const types = typesOf(part, seen)
      if (types) return types
    }
    const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(String(one.$ref))?.[1]
    const target = name === undefined ? undefined : definitions[name]
    if (isRecord(target) && !seen.includes(target)) return typesOf(target, [...seen, target])
    if (isRecord(one.properties)) return ['object']
    return one.items === undefined ? undefined : ['array']
  }

  function property(value: unknown): unknown {
    if (!isRecord(value)) return value === true ? { type: ANY } : value
    const types = typesOf(value) ?? ANY
    return { ...(walk(value) as JsonSchema), type: types.length === 1 ? types[0] : types }
  }

  const each = (value: unknown, change: (one: unknown) => unknown): unknown =>
    isRecord(value)
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(one)]))
      : value

  /** Changes the properties of a schema and of the schemas in it. */
  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk)
    if (!isRecord(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => {
        if (key === 'properties') return [key, each(one, property)]
        if (key === '$defs' || key === 'definitions') return [key, each(one, walk)]
        return [key, NESTED.has(key) ? walk(one) : one]
      }),
    )
  }

  return walk(schema) as JsonSchema
}

/** The keywords whose values are schemas, or lists of schemas. */
const NESTED = new Set(['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'])
