import { nullable } from '../schema/json-schema.ts'

export const UUID = { type: 'string', format: 'uuid' } as const
export const TIME = { type: 'string', format: 'date-time' } as const
export const STRING = { type: 'string' } as const
export const NULLABLE_STRING = /* @__PURE__ */ nullable(STRING)
export const NULLABLE_UUID = /* @__PURE__ */ nullable(UUID)

/** The members of a query that asks for a page. */
export const LIMIT = { type: 'integer', minimum: 1, maximum: 100, default: 20 } as const
export const OFFSET = { type: 'integer', minimum: 0, default: 0 } as const

export const DEPLOYMENT_PATH = {
  properties: { deployment_id: UUID },
} as const
export const REVISION_PATH = {
  properties: { deployment_id: UUID, revision_id: UUID },
} as const

/** What all refusals but 422 are answered with. */
export const ERROR = {
  title: 'ErrorResponse',
  type: 'object',
  properties: { detail: STRING },
  required: ['detail'],
} as const
