import { AgentwireError } from '../../../core/errors.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

/** A schema in the document, which may have `$ref` and alternatives. */
export interface DocumentSchema
  extends Omit<JsonSchema, 'items' | 'properties' | 'additionalProperties' | 'anyOf'> {
  readonly $ref?: string
  readonly items?: DocumentSchema
  readonly properties?: Readonly<Record<string, DocumentSchema>>
  readonly additionalProperties?: DocumentSchema | true
  readonly anyOf?: readonly DocumentSchema[]
}

/** The titled schemas of a document. Each is listed once under `components.schemas`. */
export function createComponents(own: Readonly<Record<string, DocumentSchema>>) {
  const schemas = new Map(Object.entries(own))

  /**
   * The schema with a reference for every titled one. Throws if two different schemas have the same title.
   */
  function refer(schema: JsonSchema): DocumentSchema {
    const written = write(schema)
    const { title } = schema
    if (title === undefined) return written
    const other = schemas.get(title)
    if (other && JSON.stringify(other) !== JSON.stringify(written))
      throw new AgentwireError('duplicate_title', `Two schemas of the API are called ${title}.`)
    schemas.set(title, written)
    return { $ref: `#/components/schemas/${title}` }
  }

  function write({
    items,
    properties,
    additionalProperties: more,
    anyOf,
    ...rest
  }: JsonSchema): DocumentSchema {
    const { requiredWithout: _, ...written } = rest
    const members = Object.entries(properties ?? {}).map(([name, member]) => [name, refer(member)] as const)
    return {
      ...written,
      ...(items && { items: refer(items) }),
      ...(properties && { properties: Object.fromEntries(members) }),
      ...(more && { additionalProperties: more === true || refer(more) }),
      ...(anyOf && { anyOf: anyOf.map(refer) }),
    }
  }

  return {
    refer,
    /** In alphabetical order. */
    schemas: (): Readonly<Record<string, DocumentSchema>> =>
      Object.fromEntries([...schemas].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))),
  }
}

export type Components = ReturnType<typeof createComponents>
