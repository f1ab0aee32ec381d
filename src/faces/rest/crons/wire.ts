import * as z from 'zod/mini'
import { fewKeys, integer, list, map, nonEmpty, object, refuse } from '../../kit/schema.ts'

/** ISO 8601. Without an offset it is UTC, as Python clients send it. */
const ISO_DATE = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/
const LOCAL_TIME = /:\d\d(\.\d+)?$/

/** A date as milliseconds since 1970. */
const date = map(z.string(), (text, payload) => {
  const isLocal = !/[+-]\d\d:\d\d$/.test(text.slice(10)) && LOCAL_TIME.test(text)
  const time = ISO_DATE.test(text) ? Date.parse(isLocal ? `${text}Z` : text) : Number.NaN
  return Number.isNaN(time) ? refuse(payload, 'a date such as 2030-01-31T12:00:00Z') : time
})

/** The request fields of the cron itself, apart from its runs. */
export const cronSchema = object({
  assistant_id: z.optional(nonEmpty),
  schedule: z.optional(z.string()),
  // Null clears a value, while an absent key keeps it.
  timezone: z.nullish(nonEmpty),
  end_time: z.nullish(date),
  enabled: z.optional(z.boolean()),
  on_run_completed: z.optional(z.enum(['delete', 'keep'])),
  metadata: z.optional(fewKeys),
})

/** The request keys that are not part of the run. */
export const CRON_KEYS: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'schedule',
  'timezone',
  'end_time',
  'enabled',
  'on_run_completed',
  'metadata',
  'assistant_id',
  'thread_id',
])

const FIELDS = [
  'cron_id',
  'assistant_id',
  'thread_id',
  'end_time',
  'schedule',
  'created_at',
  'updated_at',
  'user_id',
  'payload',
  'next_run_date',
  'metadata',
  'now',
  'timezone',
  'enabled',
  'on_run_completed',
  'last_run',
] as const

export type CronField = (typeof FIELDS)[number]

export const cronSearchSchema = object({
  assistant_id: z.optional(nonEmpty),
  thread_id: z.optional(nonEmpty),
  enabled: z.optional(z.boolean()),
  metadata: z.optional(fewKeys),
  limit: z.optional(integer(1, 1_000)),
  offset: z.optional(integer(0)),
  sort_by: z.optional(
    z.enum(['cron_id', 'assistant_id', 'thread_id', 'created_at', 'updated_at', 'next_run_date']),
  ),
  sort_order: z.optional(z.enum(['asc', 'desc'])),
  select: z.optional(list(z.enum(FIELDS), 0, FIELDS.length)),
})
