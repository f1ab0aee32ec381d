import * as z from 'zod/mini'
import { isRecord } from '../../core/record.ts'
import type { Json } from '../../storage/index.ts'
import { type Fault, plural, readScalar, type Scalar } from './lax.ts'

/** The keywords that a schema of zod does not have, or cannot have, for the document and for problems. */
interface Notes extends Partial<Omit<Scalar, 'type'>> {
  readonly type?: Scalar['type'] | 'array' | 'object'
  /** The name of an API object. The document lists it under `components.schemas` and refers to it. */
  readonly title?: string
  readonly description?: string
  readonly items?: z.core.$ZodType
  readonly minItems?: number
  readonly maxItems?: number
  readonly additionalProperties?: z.core.$ZodType | true
  /** The schema that reads the value, of one that does more. */
  readonly of?: z.core.$ZodType
}

const registry = new WeakMap<z.core.$ZodType, Notes>()

/** A copy of the schema with notes. The schema's own notes also apply to the copy. */
export function noted<S extends z.ZodMiniType>(schema: S, notes: Notes): S {
  const copy = schema.clone() as S
  registry.set(copy, { ...registry.get(schema), ...notes })
  return copy
}

/** The schema without its null, its default and its optionality. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  const { innerType = registry.get(schema)?.of } = schema._zod.def as { readonly innerType?: z.core.$ZodType }
  return innerType ? bare(innerType) : schema
}

export const notesOf = (schema: z.core.$ZodType): Notes => registry.get(bare(schema)) ?? {}
/** The notes of a schema itself: its description can differ from that of the schema without its null. */
export const ownNotesOf = (schema: z.core.$ZodType): Notes => registry.get(schema) ?? {}

/** The schemas of declared members, and that of all others, such as the items of a list. */
export function membersOf(schema: z.core.$ZodType): {
  readonly members?: Readonly<Record<string, z.core.$ZodType>> | undefined
  readonly others?: z.core.$ZodType | undefined
} {
  const { shape, catchall } = bare(schema)._zod.def as Partial<z.core.$ZodObjectDef>
  const { items, additionalProperties: more } = notesOf(schema)
  return { members: shape, others: items ?? (more === true ? undefined : more) ?? catchall }
}

/** The most problems that are told of a request. */
export const MAX_PROBLEMS = 50

type Payload = z.core.ParsePayload

function refuse(payload: Payload, fault: Fault): never {
  payload.issues.push({ code: 'custom', input: payload.value, message: fault.msg, params: { ...fault } })
  return z.NEVER
}

function readPart(payload: Payload, schema: z.ZodMiniType, value: unknown, ...path: PropertyKey[]): unknown {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  for (const issue of error.issues)
    payload.issues.push({ ...issue, input: value, path: [...path, ...issue.path] } as z.core.$ZodRawIssue)
  return z.NEVER
}

/** Reads parts of a value until there are more problems than are told. */
function readParts<Key extends string | number>(
  payload: Payload,
  parts: Iterable<readonly [Key, unknown]>,
  schema: z.ZodMiniType,
): (readonly [Key, unknown])[] {
  const read: (readonly [Key, unknown])[] = []
  for (const [key, value] of parts) {
    if (payload.issues.length >= MAX_PROBLEMS) break
    read.push([key, readPart(payload, schema, value, key)])
  }
  return read
}

const kind = <T>(notes: Notes, read: (value: unknown, payload: Payload) => unknown) =>
  noted(z.transform(read) as unknown as z.ZodMiniType<T>, notes)

export const scalar = <T>(of: Scalar) =>
  kind<T>(of, (given, payload) => {
    const { value, fault } = { value: undefined, ...readScalar(of, given) }
    return fault ? refuse(payload, fault) : value
  })
export const text = (bounds: Omit<Scalar, 'type'>) => scalar<string>({ type: 'string', ...bounds })
export const integer = (bounds: Omit<Scalar, 'type'>) => scalar<number>({ type: 'integer', ...bounds })
export const number = (bounds: Omit<Scalar, 'type'>) => scalar<number>({ type: 'number', ...bounds })

export const list = <S extends z.ZodMiniType>(
  items: S,
  bounds: { readonly minItems?: number; readonly maxItems?: number } = {},
) =>
  kind<z.output<S>[]>({ type: 'array', items, ...bounds }, (value, payload) => {
    if (!Array.isArray(value))
      return refuse(payload, { type: 'list_type', msg: 'Input should be a valid list' })
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = bounds
    const { length } = value
    const wrongLength = (type: string, bound: string, ctx: object) =>
      refuse(payload, {
        type,
        msg: `List should have ${bound} after validation, not ${length}`,
        ctx: { field_type: 'List', ...ctx, actual_length: length },
      })
    if (length > maxItems)
      return wrongLength('too_long', `at most ${plural(maxItems, 'item')}`, { max_length: maxItems })
    const read = readParts(payload, value.entries(), items)
    if (length < minItems && payload.issues.length === 0)
      return wrongLength('too_short', `at least ${plural(minItems, 'item')}`, { min_length: minItems })
    return read.map(([, item]) => item)
  })

const NO_DICT: Fault = { type: 'dict_type', msg: 'Input should be a valid dictionary' }

/** An object with any names, `__proto__` too. */
export const mapOf = <S extends z.ZodMiniType>(values: S) =>
  kind<{ [name: string]: z.output<S> }>({ type: 'object', additionalProperties: values }, (value, payload) =>
    isRecord(value)
      ? Object.fromEntries(readParts(payload, Object.entries(value), values))
      : refuse(payload, NO_DICT),
  )

export const JSON_VALUE = z.unknown() as z.ZodMiniType<Json | undefined>
export const JSON_OBJECT = kind<{ [name: string]: Json | undefined }>(
  { type: 'object', additionalProperties: true },
  (value, payload) => (isRecord(value) ? value : refuse(payload, NO_DICT)),
)
export const STRING = text({})
export const BOOLEAN = scalar<boolean>({ type: 'boolean' })
export const INTEGER = integer({})
export const UUID = text({ format: 'uuid' })
export const TIME = text({ format: 'date-time' })
/** A string that no error may show. */
export const PASSWORD = text({ format: 'password' })
export const NOT_EMPTY = text({ minLength: 1 })
export const STRINGS = list(STRING)
export const NULL_STRING = z.nullable(STRING)
export const NULL_TIME = z.nullable(TIME)
export const NULL_UUID = z.nullable(UUID)
/** Members that may be omitted or null. */
export const OPT_STRING = z.optional(NULL_STRING)
export const OPT_TIME = z.optional(NULL_TIME)
export const OPT_UUID = z.optional(NULL_UUID)
export const OPT_STRINGS = z.nullish(STRINGS)
export const OPT_FLAG = z.nullish(BOOLEAN)

/** An object that the document lists by its title. */
export const titled = <Shape extends z.core.$ZodLooseShape>(title: string, shape: Shape) =>
  noted(z.object(shape), { title })

/** The object, with a member that is required if another one is absent or null. */
export const requiredWithout = <S extends z.ZodMiniType>(object: S, name: string, other: string) =>
  kind<z.output<S>>({ of: object }, (value, payload) => {
    if (isRecord(value) && value[name] === undefined && value[other] == null)
      payload.issues.push({ code: 'custom', input: undefined, path: [name] })
    return readPart(payload, object, value)
  })

export const described = <S extends z.ZodMiniType>(schema: S, description: string): S =>
  noted(schema, { description })

/** A query member that may be omitted, but not null. */
export const textQuery = (description: string) => z.optional(described(STRING, description))

export const limited = (maximum: number, preset: number) =>
  z._default(integer({ minimum: 1, maximum }), preset)

export const PAGE_QUERY = {
  limit: limited(100, 20),
  offset: z._default(integer({ minimum: 0 }), 0),
} as const

export const pageOf = <S extends z.ZodMiniType>(title: string, item: S) =>
  titled(title, { resources: list(item), offset: INTEGER })

export const DEPLOYMENT_PATH = z.object({ deployment_id: UUID })
export const REVISION_PATH = z.object({ deployment_id: UUID, revision_id: UUID })

/** The body of all error responses except 422. */
export const ERROR = titled('ErrorResponse', { detail: STRING })

/** A wire name in camelCase: `client_id` becomes `clientId`. */
export type Camel<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name

/** A body's members in camelCase. */
export type Given<Body> = {
  readonly [Name in keyof Body as Camel<Name>]: Exclude<Body[Name], null | undefined>
}

export const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** A Pydantic API treats null as omitted. */
export const given = <Body extends object>(body: Body): Given<Body> =>
  Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (value == null ? [] : [[camel(name), value]])),
  ) as Given<Body>
