import type { Json } from '../../kit/events.ts'
import { ITEMS, KEYS, MESSAGES, of, TEXTS, VALUES } from './shapes.ts'

/** A legal body in which one place holds as much as fits. */
export interface Body {
  /** The place, and the shape of what it holds: `metadata: many keys`. */
  readonly name: string
  readonly make: (size: number) => unknown
}

/** Names of what there is, by the name of their field, such as `assistant_id` or `ids`: the n-th one. */
export type Known = (field: string) => ((at: number) => string) | undefined

interface Place {
  readonly path: readonly string[]
  readonly schema: Json
}

/** A value of about so many characters. */
type Shape = (size: number) => unknown

/**
 * Large bodies that a schema takes: a small one that has each of its places filled in turn, in each shape that
 * fits there. `example` has what the schema does not say.
 */
export function legalBodies(document: Json, schema: Json, example: Json, known: Known): Body[] {
  const { bodiesOf } = reading(document, known)
  return bodiesOf(schema, example)
}

function reading(document: Json, known: Known) {
  /** A schema with its references resolved, and without the null that stands for an absent field. */
  function plain(schema: Json): Json {
    if (schema.$ref) return plain(document.components.schemas[schema.$ref.split('/').at(-1)])
    const any = schema.anyOf?.filter((one: Json) => one.type !== 'null')
    return any?.length === 1 ? plain({ ...schema, anyOf: undefined, ...any[0] }) : schema
  }

  function bodiesOf(schema: Json, example: Json): Body[] {
    return variantsOf(plain(schema)).flatMap((variant) => {
      const least = (): Json => leastOf(variant, '', example)
      return placesOf(variant).flatMap((place) =>
        Object.entries(shapesAt(place)).map(([shape, value]) => ({
          name: `${place.path.join('.') || 'body'}: ${shape}`,
          make: (size: number) => withValue(least(), place.path, value(size)),
        })),
      )
    })
  }

  /** The smallest value that a schema takes. */
  function leastOf(given: Json, field: string, example?: Json): Json {
    const schema = plain(given)
    if (schema.anyOf) return leastOf(schema.anyOf[0], field, example)
    if (example !== undefined && !isObject(example)) return example
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return schema.enum[0]
    const type = [schema.type].flat()[0]
    if (type === 'array') {
      const least = schema.minItems ?? 0
      return least === 0 ? [] : of(least, () => leastOf(schema.items ?? {}, field))
    }
    if (type === 'string') return known(field)?.(0) ?? (schema.format === 'uuid' ? UUID : 'x')
    if (type === 'integer' || type === 'number') return Math.max(1, schema.minimum ?? 0)
    if (type === 'boolean') return false
    const least: Json = { ...example }
    for (const key of new Set([...(schema.required ?? []), ...Object.keys(example ?? {})]))
      if (schema.properties?.[key]) least[key] = leastOf(schema.properties[key], key, example?.[key])
    return least
  }

  /** Each place of a value that can be large. */
  function placesOf(given: Json, path: readonly string[] = []): Place[] {
    const schema = plain(given)
    if (schema.anyOf) return schema.anyOf.flatMap((one: Json) => placesOf(one, path))
    if (schema.const !== undefined || schema.enum) return []
    const inside = Object.entries<Json>(schema.properties ?? {}).flatMap(([key, one]) =>
      placesOf(one, [...path, key]),
    )
    const isLarge = schema.maximum <= MOST || ![schema.type].flat().some((type) => SCALARS.has(type))
    const isClosed = schema.type === 'object' && path.length > 0 && !schema.additionalProperties
    return isLarge && !(isClosed && inside.length > 0) ? [{ path, schema }, ...inside] : inside
  }

  function shapesAt({ path, schema }: Place, isItem = false): Readonly<Record<string, Shape>> {
    const field = path.at(-1) ?? ''
    switch ([schema.type].flat()[0]) {
      case 'string':
        return known(field) || schema.format || schema.pattern ? {} : TEXTS
      case 'object':
        return KEYS
      case 'integer':
        return { 'as many as it takes': () => schema.maximum }
      case 'array':
        return listsOf(schema, field, isItem)
      default:
        return { ...VALUES, ...(HOLDS_MESSAGES.has(field) && inObjects(MESSAGES)) }
    }
  }

  function listsOf(
    { items = {}, maxItems = Number.POSITIVE_INFINITY }: Json,
    field: string,
    isItem: boolean,
  ) {
    const name = known(field)
    const least = name ? undefined : leastOf(items, field)
    const each = (at: number) => name?.(at) ?? (least === 'x' ? `x${at}` : (least ?? at))
    const length = JSON.stringify(each(10_000)).length + 1
    const lists: Record<string, Shape> = {
      'as many as it takes': (size) => of(Math.min(maxItems, size / length), each),
    }
    if (HOLDS_MESSAGES.has(field))
      for (const [shape, make] of Object.entries({ ...MESSAGES, ...ITEMS }))
        lists[shape] = (size) => make(size).slice(0, maxItems)
    if (isItem) return lists
    const item = plain(items)
    for (const place of item.type === 'object' ? placesOf(item) : [])
      for (const [shape, make] of Object.entries(shapesAt(place, true)))
        lists[`100 with ${place.path.join('.')}: ${shape}`] = (size) => {
          const one = withValue(leastOf(item, field), place.path, make(size / 100))
          return of(Math.min(maxItems, 100), () => one)
        }
    return lists
  }

  return { bodiesOf }
}

const SCALARS = new Set(['integer', 'number', 'boolean'])

/** A number up to this is a number of things. */
const MOST = 10_000

const UUID = '0190a6f2-0000-7000-8000-000000000000'

/** Fields of which a list may be of messages, or that may be a state with messages. */
const HOLDS_MESSAGES = new Set(['messages', 'input', 'items', 'content', 'values', 'update'])

const inObjects = (shapes: typeof MESSAGES): Readonly<Record<string, Shape>> =>
  Object.fromEntries(
    Object.entries(shapes).map(([name, make]) => [name, (size) => ({ messages: make(size) })]),
  )

/** The alternatives of a body, such as the methods of a command. */
function variantsOf({ oneOf, ...rest }: Json): Json[] {
  if (!oneOf) return [rest]
  return oneOf.map((one: Json) => ({ ...rest, properties: { ...rest.properties, ...one.properties } }))
}

/** The value with another one at a path. An object at its root keeps what it has. */
function withValue(body: Json, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return isObject(body) && isObject(value) ? { ...(value as object), ...body } : value
  return { ...body, [key]: withValue(body?.[key], rest, value) }
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
