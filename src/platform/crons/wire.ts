import {
  boolean,
  list,
  nonEmpty,
  object,
  oneOf,
  optional,
  record,
  refuse,
  type Schema,
  string,
  whole,
} from '../../face/schema.ts'

/** ISO 8601. Without an offset it is UTC, as Python's clients send it. */
const ISO_DATE = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/
const LOCAL_TIME = /:\d\d(\.\d+)?$/

/** A date as milliseconds since 1970. */
const date: Schema<number> = (value, path = '') => {
  const text = string(value, path)
  const isLocal = !/[+-]\d\d:\d\d$/.test(text.slice(10)) && LOCAL_TIME.test(text)
  const time = ISO_DATE.test(text) ? Date.parse(isLocal ? `${text}Z` : text) : Number.NaN
  return Number.isNaN(time) ? refuse(path, 'a date such as 2030-01-31T12:00:00Z') : time
}

/** Null says more than nothing: it takes a value back. */
/* @__NO_SIDE_EFFECTS__ */
function nullable<T>(schema: Schema<T>): Schema<T | null | undefined> {
  return (value, path) => (value == null ? (value as null | undefined) : schema(value, path))
}

/** What a request says of the cron itself, beside the run that it starts. */
export const cronSchema = object({
  assistant_id: optional(nonEmpty),
  schedule: optional(string),
  timezone: nullable(nonEmpty),
  end_time: nullable(date),
  enabled: optional(boolean),
  on_run_completed: optional(oneOf('delete', 'keep')),
  metadata: optional(record),
})

/** The keys of a request that are not of the run. */
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

const field: Schema<CronField> = (value, path) => oneOf(...FIELDS)(value, path)

export const cronSearchSchema = object({
  assistant_id: optional(nonEmpty),
  thread_id: optional(nonEmpty),
  enabled: optional(boolean),
  metadata: optional(record),
  limit: optional(whole(1, 1_000)),
  offset: optional(whole(0)),
  sort_by: optional(
    oneOf('cron_id', 'assistant_id', 'thread_id', 'created_at', 'updated_at', 'next_run_date'),
  ),
  sort_order: optional(oneOf('asc', 'desc')),
  select: optional(list(field, 0, FIELDS.length)),
})
