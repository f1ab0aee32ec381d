import * as z from 'zod/mini'

/** An OpenAPI 3.1 schema (JSON Schema 2020-12), with the keywords that the API uses. */
export interface JsonSchema extends SchemaNotes {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null'
  readonly enum?: readonly (string | number)[]
  readonly const?: string | number
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression that the text must match. */
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  /**
   * The schema of further members of an object. Absent: they are ignored, except in an object without
   * `properties`, where they may be anything.
   */
  readonly additionalProperties?: JsonSchema | true
  /** One schema, or null. */
  readonly anyOf?: readonly [JsonSchema, { readonly type: 'null' }]
  /** The value of an omitted member. */
  readonly default?: unknown
}

/** Keywords that `noted` adds to a zod schema. */
export interface SchemaNotes {
  /** The name of an API object. The document lists it under `components.schemas` and refers to it. */
  readonly title?: string
  readonly description?: string
  /** The value of a `password` is never shown in an error. */
  readonly format?: 'uuid' | 'date-time' | 'password'
  /** Members that are required if the other one is absent or null. Not in the document. */
  readonly requiredWithout?: Readonly<Record<string, string>>
}

/** For the API only: zod's default registry is shared with the application. */
export const schemaNotes = /* @__PURE__ */ z.registry<SchemaNotes>()

/** A copy of the schema with notes. The schema's own notes also apply to the copy. */
/* @__NO_SIDE_EFFECTS__ */
export function noted<S extends z.ZodMiniType>(schema: S, notes: SchemaNotes): S {
  const copy = schema.clone() as S
  schemaNotes.add(copy, notes)
  return copy
}

const schemas = /* @__PURE__ */ new WeakMap<z.core.$ZodType, JsonSchema>()

/**
 * The result of `z.toJSONSchema` for a schema's input, without its safe integer limits. It is cached.
 * `toJSONSchema` itself supports all of zod, which is more code than the rest of the checks.
 */
export function jsonSchemaOf(schema: z.core.$ZodType): JsonSchema {
  const known = schemas.get(schema)
  if (known) return known
  const made = { ...keywordsOf(schema), ...schemaNotes.get(schema) }
  schemas.set(schema, made)
  return made
}

function keywordsOf(schema: z.core.$ZodType): JsonSchema {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'unknown':
      return {}
    case 'boolean':
    case 'null':
      return { type: def.type }
    case 'string':
      return { type: 'string', ...checksOf(def) }
    case 'number':
      return { type: 'format' in def ? 'integer' : 'number', ...checksOf(def) }
    case 'enum':
      return { type: 'string', enum: Object.values(def.entries) }
    case 'literal':
      return { type: 'string', const: def.values[0] as string }
    case 'nullable':
      return { anyOf: [jsonSchemaOf(def.innerType), { type: 'null' }] }
    case 'optional':
      return jsonSchemaOf(def.innerType)
    case 'default':
      return { ...jsonSchemaOf(def.innerType), default: def.defaultValue }
    case 'array':
      return { type: 'array', items: jsonSchemaOf(def.element), ...checksOf(def) }
    case 'object': {
      const members = Object.entries(def.shape)
      const required = members.filter(([, member]) => member._zod.optin === undefined).map(([name]) => name)
      return {
        type: 'object',
        ...(members.length > 0 && {
          properties: Object.fromEntries(members.map(([name, member]) => [name, jsonSchemaOf(member)])),
        }),
        ...(required.length > 0 && { required }),
        ...(def.catchall && {
          additionalProperties: def.catchall._zod.def.type === 'unknown' || jsonSchemaOf(def.catchall),
        }),
      }
    }
    default:
      throw new TypeError(`The schemas of the API have no ${def.type}.`)
  }
}

function checksOf({ type, checks = [] }: z.core.$ZodTypeDef): JsonSchema {
  const [min, max] =
    type === 'array' ? (['minItems', 'maxItems'] as const) : (['minLength', 'maxLength'] as const)
  return Object.assign(
    {},
    ...checks.map((check) => {
      const { def } = (check as z.core.$ZodChecks)._zod
      switch (def.check) {
        case 'min_length':
          return { [min]: def.minimum }
        case 'max_length':
          return { [max]: def.maximum }
        case 'greater_than':
          return { minimum: def.value }
        case 'less_than':
          return { maximum: def.value }
        case 'string_format':
          // `source` escapes slashes, which are not special in JSON Schema.
          return { pattern: def.pattern!.source.replaceAll('\\/', '/') }
        default:
          throw new TypeError(`The schemas of the API have no check ${def.check}.`)
      }
    }),
  )
}
