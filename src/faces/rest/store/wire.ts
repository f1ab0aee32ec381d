import * as z from 'zod/mini'
import { isRecord } from '../../../messages/record.ts'
import type { GraphStoreItem, GraphStoreSearchItem } from '../../../storage/graph-store/index.ts'
import { integer, list, map, number, object, record, refuse } from '../../kit/schema.ts'

const MAX_PAGE = 1_000
/** One more than a store accepts, so that the store itself reports the error. */
const labels = list(z.string(), 0, 33)
/** Stored as JSON and never merged into another object, so a key `__proto__` is safe. */
const jsonObject = map(z.unknown(), (value, payload): Record<string, unknown> => {
  if (isRecord(value)) return value
  return refuse(payload, 'an object')
})
const minutes = number('a number of minutes above 0', z.gt(0))

export const putSchema = object({
  namespace: labels,
  key: z.string(),
  value: jsonObject,
  index: z.optional(z.union([z.literal(false), list(z.string(), 0, 100)], 'false or an array of paths')),
  ttl: z.optional(minutes),
})

export const itemSchema = object({
  namespace: z.optional(labels),
  key: z.string(),
})

export const searchSchema = object({
  namespace_prefix: labels,
  filter: z.optional(record),
  limit: z.optional(integer(1, MAX_PAGE)),
  offset: z.optional(integer(0)),
  query: z.optional(z.string()),
  refresh_ttl: z.optional(z.boolean()),
})

export const namespacesSchema = object({
  prefix: z.optional(labels),
  suffix: z.optional(labels),
  max_depth: z.optional(integer(1)),
  limit: z.optional(integer(1, MAX_PAGE)),
  offset: z.optional(integer(0)),
})

/** An item in the clients' format. Only a similarity search sets its score. */
export const presentItem = ({ createdAt, updatedAt, ...item }: GraphStoreItem | GraphStoreSearchItem) => ({
  namespace: item.namespace,
  key: item.key,
  value: item.value,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
  ...('score' in item && item.score !== undefined && { score: item.score }),
})
