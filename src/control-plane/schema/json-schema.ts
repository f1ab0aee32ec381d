import type { Json } from '../../storage/index.ts'

/**
 * What a value of the API may be: a schema of OpenAPI 3.1 (JSON Schema 2020-12), as data. The document that is served shows the very
 * schemas that requests are checked against. Only these keywords are understood.
 */
export interface JsonSchema {
  /** Names an object of the API. The document lists it under `components.schemas` and refers to it. */
  readonly title?: string
  readonly description?: string
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null'
  readonly enum?: readonly (string | number)[]
  readonly const?: string | number
  /** The value of a `password` is never shown in an error. */
  readonly format?: 'uuid' | 'date-time' | 'password'
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression that the text has a match of. */
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  /** Members that are required where the other one is absent or null. The document leaves it out. */
  readonly requiredWithout?: Readonly<Record<string, string>>
  /** What further members of an object are. Absent: they are ignored, but for an object without `properties`, where they are anything. */
  readonly additionalProperties?: JsonSchema | true
  /** One schema, or null. */
  readonly anyOf?: readonly [JsonSchema, { readonly type: 'null' }]
  /** The value of a member that is left out. */
  readonly default?: unknown
}

/** The values of a schema, as they are once the defaults are set. */
export type Infer<S> = S extends { readonly anyOf: readonly [infer Some, unknown] }
  ? Infer<Some> | null
  : S extends { readonly const: infer C }
    ? C
    : S extends { readonly enum: readonly (infer E)[] }
      ? E
      : S extends { readonly type: 'string' }
        ? string
        : S extends { readonly type: 'integer' | 'number' }
          ? number
          : S extends { readonly type: 'boolean' }
            ? boolean
            : S extends { readonly type: 'null' }
              ? null
              : S extends { readonly type: 'array' }
                ? readonly (S extends { readonly items: infer Item } ? Infer<Item> : Json)[]
                : S extends { readonly properties: infer P }
                  ? ObjectOf<P, S extends { readonly required: readonly (infer R)[] } ? R : never>
                  : S extends { readonly type: 'object' }
                    ? Readonly<Record<string, ValueOf<S>>>
                    : unknown

/** What no schema describes is any JSON. */
type ValueOf<S> = S extends { readonly additionalProperties: infer Value extends JsonSchema }
  ? Infer<Value>
  : Json | undefined

type Present<P, Required> = {
  [K in keyof P]: K extends Required ? K : P[K] extends { readonly default: unknown } ? K : never
}[keyof P]

type ObjectOf<P, Required> = { readonly [K in Present<P, Required>]: Infer<P[K]> } & {
  readonly [K in Exclude<keyof P, Present<P, Required>>]?: Infer<P[K]> | undefined
}

/** The schema or null. */
/* @__NO_SIDE_EFFECTS__ */
export function nullable<const S extends JsonSchema>(schema: S) {
  return { anyOf: [schema, { type: 'null' }] } as const
}
