import * as z from 'zod/mini'
import type { Json } from '../../storage/index.ts'
import { noted } from '../schema/json-schema.ts'

export const STRING = /* @__PURE__ */ z.string()
export const BOOLEAN = /* @__PURE__ */ z.boolean()
export const INTEGER = /* @__PURE__ */ z.int()
export const UUID = /* @__PURE__ */ noted(STRING, { format: 'uuid' })
export const TIME = /* @__PURE__ */ noted(STRING, { format: 'date-time' })
/** A string that no error may show. */
export const PASSWORD = /* @__PURE__ */ noted(STRING, { format: 'password' })
export const NOT_EMPTY = /* @__PURE__ */ STRING.check(z.minLength(1))
export const STRINGS = /* @__PURE__ */ z.array(STRING)
export const NULL_STRING = /* @__PURE__ */ z.nullable(STRING)
export const NULL_TIME = /* @__PURE__ */ z.nullable(TIME)
export const NULL_UUID = /* @__PURE__ */ z.nullable(UUID)
/** Members that may be omitted or null. */
export const OPT_STRING = /* @__PURE__ */ z.optional(NULL_STRING)
export const OPT_TIME = /* @__PURE__ */ z.optional(NULL_TIME)
export const OPT_UUID = /* @__PURE__ */ z.optional(NULL_UUID)
export const OPT_STRINGS = /* @__PURE__ */ z.nullish(STRINGS)
export const OPT_FLAG = /* @__PURE__ */ z.nullish(BOOLEAN)
/** Any JSON value. */
export const JSON_VALUE = /* @__PURE__ */ z.unknown() as z.ZodMiniType<Json | undefined>
export const JSON_OBJECT = /* @__PURE__ */ mapOf(JSON_VALUE)

/** An object with any names. It is less code than `z.record`. */
/* @__NO_SIDE_EFFECTS__ */
export function mapOf<S extends z.ZodMiniType>(value: S) {
  return z.catchall(z.object({}), value)
}

/** An object that the document lists by its title. */
/* @__NO_SIDE_EFFECTS__ */
export const titled = <Shape extends z.core.$ZodLooseShape>(title: string, shape: Shape) =>
  noted(z.object(shape), { title })

/* @__NO_SIDE_EFFECTS__ */
export const described = <S extends z.ZodMiniType>(schema: S, description: string): S =>
  noted(schema, { description })

/** A query member that may be omitted, but not null. */
/* @__NO_SIDE_EFFECTS__ */
export const textQuery = (description: string) => z.optional(described(STRING, description))

/* @__NO_SIDE_EFFECTS__ */
export const limited = (max: number, preset: number) =>
  z._default(z.int().check(z.gte(1), z.lte(max)), preset)

/** The query members for a page. */
export const PAGE_QUERY = {
  limit: /* @__PURE__ */ limited(100, 20),
  offset: /* @__PURE__ */ z._default(z.int().check(z.gte(0)), 0),
} as const

/** A page of a list. */
/* @__NO_SIDE_EFFECTS__ */
export const pageOf = <S extends z.ZodMiniType>(title: string, item: S) =>
  titled(title, { resources: z.array(item), offset: INTEGER })

export const DEPLOYMENT_PATH = /* @__PURE__ */ z.object({ deployment_id: UUID })
export const REVISION_PATH = /* @__PURE__ */ z.object({ deployment_id: UUID, revision_id: UUID })

/** The body of all error responses except 422. */
export const ERROR = /* @__PURE__ */ titled('ErrorResponse', { detail: STRING })
