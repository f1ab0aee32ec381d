import {
  boolean,
  either,
  list,
  object,
  optional,
  record,
  refuse,
  type Schema,
  string,
  whole,
} from '../../face/schema.ts'
import type { GraphStoreItem, GraphStoreSearchItem } from '../../graph-store/index.ts'

const MAX_PAGE = 1_000
/** One more than a store takes, so that it says itself what is too long. */
const labels = /* @__PURE__ */ list(string, 0, 33)
/** It is kept as JSON and merged into nothing, so that a key `__proto__` may stay in it. */
const jsonObject: Schema<Readonly<Record<string, unknown>>> = (value, path) =>
  record(value, path) && (value as Readonly<Record<string, unknown>>)
const never: Schema<false> = (value, path = '') => (value === false ? value : refuse(path, 'false'))
const minutes: Schema<number> = (value, path = '') =>
  typeof value === 'number' && value > 0 && Number.isFinite(value)
    ? value
    : refuse(path, 'a number of minutes above 0')

export const putSchema = /* @__PURE__ */ object({
  namespace: labels,
  key: string,
  value: jsonObject,
  index: /* @__PURE__ */ optional(
    /* @__PURE__ */ either<false | string[]>(
      'false or an array of paths',
      never,
      /* @__PURE__ */ list(string, 0, 100),
    ),
  ),
  ttl: /* @__PURE__ */ optional(minutes),
})

export const itemSchema = /* @__PURE__ */ object({
  namespace: /* @__PURE__ */ optional(labels),
  key: string,
})

export const searchSchema = /* @__PURE__ */ object({
  namespace_prefix: labels,
  filter: /* @__PURE__ */ optional(record),
  limit: /* @__PURE__ */ optional(/* @__PURE__ */ whole(1, MAX_PAGE)),
  offset: /* @__PURE__ */ optional(/* @__PURE__ */ whole(0)),
  query: /* @__PURE__ */ optional(string),
  refresh_ttl: /* @__PURE__ */ optional(boolean),
})

export const namespacesSchema = /* @__PURE__ */ object({
  prefix: /* @__PURE__ */ optional(labels),
  suffix: /* @__PURE__ */ optional(labels),
  max_depth: /* @__PURE__ */ optional(/* @__PURE__ */ whole(1)),
  limit: /* @__PURE__ */ optional(/* @__PURE__ */ whole(1, MAX_PAGE)),
  offset: /* @__PURE__ */ optional(/* @__PURE__ */ whole(0)),
})

/** An item as clients see it. Only a search by similarity gives it a score. */
export const presentItem = ({ createdAt, updatedAt, ...item }: GraphStoreItem | GraphStoreSearchItem) => ({
  namespace: item.namespace,
  key: item.key,
  value: item.value,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
  ...('score' in item && item.score !== undefined && { score: item.score }),
})
