import { nullable } from '../schema/json-schema.ts'
import { NULLABLE_STRING, NULLABLE_UUID, STRING, TIME, UUID } from './common.ts'

const ORDER = { type: 'string', enum: ['asc', 'desc'], default: 'asc' } as const
const LEVEL = { type: 'string', enum: ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] } as const
/** Which lines are wanted. */
const FILTERS = { start_time: TIME, end_time: TIME, query: STRING, level: LEVEL, run_id: STRING } as const
const LIMIT = { type: 'integer', minimum: 1, maximum: 1000, default: 50 } as const

const LOG_ENTRY = {
  title: 'LogEntry',
  type: 'object',
  properties: {
    id: STRING,
    timestamp: TIME,
    level: LEVEL,
    message: STRING,
    revision_id: NULLABLE_UUID,
    run_id: NULLABLE_STRING,
  },
  required: ['id', 'timestamp', 'level', 'message'],
} as const

export const LOG_PAGE = {
  title: 'LogsResponse',
  type: 'object',
  properties: { logs: { type: 'array', items: LOG_ENTRY }, next_offset: NULLABLE_STRING },
  required: ['logs', 'next_offset'],
} as const

export const LOG_ITEMS = {
  title: 'DeploymentLogsResponse',
  type: 'object',
  properties: { items: { type: 'array', items: LOG_ENTRY }, next_cursor: NULLABLE_STRING },
  required: ['items', 'next_cursor'],
} as const

export const REVISION_LOGS = {
  properties: {
    type: { type: 'string', enum: ['build', 'deploy'] },
    ...FILTERS,
    order: ORDER,
    limit: LIMIT,
    offset: STRING,
  },
  required: ['type'],
} as const

export const DEPLOYMENT_LOGS = {
  properties: {
    type: {
      type: 'string',
      enum: ['build', 'deploy'],
      default: 'deploy',
      description: 'The build log is that of the newest revision.',
    },
    ...FILTERS,
    order: ORDER,
    limit: LIMIT,
    offset: STRING,
  },
} as const

export const LIST_DEPLOYMENT_LOGS = {
  properties: {
    deployment_id: UUID,
    revision_id: UUID,
    log_type: { type: 'string', enum: ['BUILD', 'DEPLOY'], default: 'DEPLOY' },
    ...FILTERS,
    sort_order: ORDER,
    page_size: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    cursor: STRING,
  },
  required: ['deployment_id'],
} as const

/** What the command-line tools send. Times are text, or milliseconds since 1970. */
export const PROJECT_LOGS = {
  title: 'ProjectLogsRequest',
  type: 'object',
  properties: {
    order: /* @__PURE__ */ nullable({ type: 'string', enum: ['asc', 'desc'] }),
    limit: /* @__PURE__ */ nullable({ type: 'integer', minimum: 1, maximum: 1000 }),
    offset: NULLABLE_STRING,
    level: /* @__PURE__ */ nullable(LEVEL),
    query: NULLABLE_STRING,
    start_time: /* @__PURE__ */ nullable(TIME),
    end_time: /* @__PURE__ */ nullable(TIME),
  },
} as const

const PROJECT_LOG_ENTRY = {
  title: 'ProjectLogEntry',
  type: 'object',
  properties: {
    id: STRING,
    timestamp: { type: 'integer', description: 'Milliseconds since 1970.' },
    level: LEVEL,
    message: STRING,
  },
  required: ['id', 'timestamp', 'level', 'message'],
} as const

export const PROJECT_LOG_PAGE = {
  title: 'ProjectLogsResponse',
  type: 'object',
  properties: { logs: { type: 'array', items: PROJECT_LOG_ENTRY }, next_offset: NULLABLE_STRING },
  required: ['logs', 'next_offset'],
} as const
