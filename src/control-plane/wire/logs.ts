import * as z from 'zod/mini'
import * as t from './common.ts'

const ORDER = z.enum(['asc', 'desc'])
const DEFAULT_ORDER = z._default(ORDER, 'asc')
const LEVEL = z.enum(['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'])
const TYPE = z.enum(['build', 'deploy'])
/** The lines to select. */
const FILTERS = {
  start_time: z.optional(t.TIME),
  end_time: z.optional(t.TIME),
  query: z.optional(t.STRING),
  level: z.optional(LEVEL),
  run_id: z.optional(t.STRING),
} as const
const PAGE = {
  order: DEFAULT_ORDER,
  limit: t.limited(1000, 50),
  offset: z.optional(t.STRING),
} as const

const LOG_ENTRY = t.titled('LogEntry', {
  id: t.STRING,
  timestamp: t.TIME,
  level: LEVEL,
  message: t.STRING,
  revision_id: t.OPT_UUID,
  run_id: t.OPT_STRING,
})

export const LOG_PAGE = t.titled('LogsResponse', {
  logs: t.list(LOG_ENTRY),
  next_offset: t.NULL_STRING,
})

export const LOG_ITEMS = t.titled('DeploymentLogsResponse', {
  items: t.list(LOG_ENTRY),
  next_cursor: t.NULL_STRING,
})

export const REVISION_LOGS = z.object({ type: TYPE, ...FILTERS, ...PAGE })

export const DEPLOYMENT_LOGS = z.object({
  type: t.described(z._default(TYPE, 'deploy'), 'The build log is that of the newest revision.'),
  ...FILTERS,
  ...PAGE,
})

export const LIST_DEPLOYMENT_LOGS = z.object({
  deployment_id: t.UUID,
  revision_id: z.optional(t.UUID),
  log_type: z._default(z.enum(['BUILD', 'DEPLOY']), 'DEPLOY'),
  ...FILTERS,
  sort_order: DEFAULT_ORDER,
  page_size: t.limited(100, 20),
  cursor: z.optional(t.STRING),
})

/** What the command-line tools send. Times are strings, or milliseconds since 1970. */
export const PROJECT_LOGS = t.titled('ProjectLogsRequest', {
  order: z.nullish(ORDER),
  limit: z.nullish(t.integer({ minimum: 1, maximum: 1000 })),
  offset: t.OPT_STRING,
  level: z.nullish(LEVEL),
  query: t.OPT_STRING,
  start_time: t.OPT_TIME,
  end_time: t.OPT_TIME,
})
export type ProjectLogsBody = z.output<typeof PROJECT_LOGS>

const PROJECT_LOG_ENTRY = t.titled('ProjectLogEntry', {
  id: t.STRING,
  timestamp: t.described(t.INTEGER, 'Milliseconds since 1970.'),
  level: LEVEL,
  message: t.STRING,
})

export const PROJECT_LOG_PAGE = t.titled('ProjectLogsResponse', {
  logs: t.list(PROJECT_LOG_ENTRY),
  next_offset: t.NULL_STRING,
})
