import * as z from 'zod/mini'
import {
  described,
  INTEGER,
  limited,
  NULL_STRING,
  OPT_STRING,
  OPT_TIME,
  OPT_UUID,
  STRING,
  TIME,
  titled,
  UUID,
} from './common.ts'

const ORDER = /* @__PURE__ */ z.enum(['asc', 'desc'])
const DEFAULT_ORDER = /* @__PURE__ */ z._default(ORDER, 'asc')
const LEVEL = /* @__PURE__ */ z.enum(['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'])
const TYPE = /* @__PURE__ */ z.enum(['build', 'deploy'])
/** Which lines are wanted. */
const FILTERS = {
  start_time: /* @__PURE__ */ z.optional(TIME),
  end_time: /* @__PURE__ */ z.optional(TIME),
  query: /* @__PURE__ */ z.optional(STRING),
  level: /* @__PURE__ */ z.optional(LEVEL),
  run_id: /* @__PURE__ */ z.optional(STRING),
} as const
const PAGE = {
  order: DEFAULT_ORDER,
  limit: /* @__PURE__ */ limited(1000, 50),
  offset: /* @__PURE__ */ z.optional(STRING),
} as const

const LOG_ENTRY = /* @__PURE__ */ titled('LogEntry', {
  id: STRING,
  timestamp: TIME,
  level: LEVEL,
  message: STRING,
  revision_id: OPT_UUID,
  run_id: OPT_STRING,
})

export const LOG_PAGE = /* @__PURE__ */ titled('LogsResponse', {
  logs: z.array(LOG_ENTRY),
  next_offset: NULL_STRING,
})

export const LOG_ITEMS = /* @__PURE__ */ titled('DeploymentLogsResponse', {
  items: z.array(LOG_ENTRY),
  next_cursor: NULL_STRING,
})

export const REVISION_LOGS = /* @__PURE__ */ z.object({ type: TYPE, ...FILTERS, ...PAGE })

export const DEPLOYMENT_LOGS = /* @__PURE__ */ z.object({
  type: described(z._default(TYPE, 'deploy'), 'The build log is that of the newest revision.'),
  ...FILTERS,
  ...PAGE,
})

export const LIST_DEPLOYMENT_LOGS = /* @__PURE__ */ z.object({
  deployment_id: UUID,
  revision_id: z.optional(UUID),
  log_type: z._default(z.enum(['BUILD', 'DEPLOY']), 'DEPLOY'),
  ...FILTERS,
  sort_order: DEFAULT_ORDER,
  page_size: limited(100, 20),
  cursor: z.optional(STRING),
})

/** What the command-line tools send. Times are text, or milliseconds since 1970. */
export const PROJECT_LOGS = /* @__PURE__ */ titled('ProjectLogsRequest', {
  order: z.nullish(ORDER),
  limit: z.nullish(z.int().check(z.gte(1), z.lte(1000))),
  offset: OPT_STRING,
  level: z.nullish(LEVEL),
  query: OPT_STRING,
  start_time: OPT_TIME,
  end_time: OPT_TIME,
})
export type ProjectLogsBody = z.output<typeof PROJECT_LOGS>

const PROJECT_LOG_ENTRY = /* @__PURE__ */ titled('ProjectLogEntry', {
  id: STRING,
  timestamp: described(INTEGER, 'Milliseconds since 1970.'),
  level: LEVEL,
  message: STRING,
})

export const PROJECT_LOG_PAGE = /* @__PURE__ */ titled('ProjectLogsResponse', {
  logs: z.array(PROJECT_LOG_ENTRY),
  next_offset: NULL_STRING,
})
