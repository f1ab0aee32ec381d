import { AgentwireError } from '../../../errors.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

/** A schema as the document has it: also with `$ref`. */
export interface DocumentSchema
  extends Omit<JsonSchema, 'items' | 'properties' | 'additionalProperties' | 'anyOf'> {
  readonly $ref?: string
  readonly items?: DocumentSchema
  readonly properties?: Readonly<Record<string, DocumentSchema>>
  readonly additionalProperties?: DocumentSchema | true
  readonly anyOf?: readonly DocumentSchema[]
}

/** The titled schemas of a document, each of which stands once under `components.schemas`. */
export interface Components {
  /** The schema with a reference for every titled one. Throws where two different schemas have the same title. */
  refer(schema: JsonSchema): DocumentSchema
  /** In alphabetical order. */
  schemas(): Readonly<Record<string, DocumentSchema>>
}

export function createComponents(own: Readonly<Record<string, DocumentSchema>>): Components {
  const schemas = new Map(Object.entries(own))

  const refer = (schema: JsonSchema): DocumentSchema => {
    const written = write(schema)
    const { title } = schema
    if (title === undefined) return written
    const other = schemas.get(title)
    if (other && JSON.stringify(other) !== JSON.stringify(written))
      throw new AgentwireError('duplicate_title', `Two schemas of the API are called ${title}.`)
    schemas.set(title, written)
    return { $ref: `#/components/schemas/${title}` }
  }

  const write = ({
    items,
    properties,
    additionalProperties,
    anyOf,
    requiredWithout: _,
    ...rest
  }: JsonSchema): DocumentSchema => ({
    ...rest,
    ...(items && { items: refer(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [name, refer(member)]),
      ),
    }),
    ...(additionalProperties && {
      additionalProperties: additionalProperties === true || refer(additionalProperties),
    }),
    ...(anyOf && { anyOf: anyOf.map(refer) }),
  })

  return {
    refer,
    schemas: () =>
      Object.fromEntries([...schemas].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))),
  }
}
