import * as z from 'zod/mini'
import { statusSchema } from './runs/wire.ts'

/** The schemas of what the platform's routes return. */

const fields = z.record(z.string(), z.unknown())
const date = z.iso.datetime()

/** The SDK's `Run`. */
export const run = z.object({
  run_id: z.string(),
  thread_id: z.string(),
  assistant_id: z.string(),
  created_at: date,
  updated_at: date,
  status: statusSchema,
  metadata: fields,
  kwargs: fields,
  multitask_strategy: z.string(),
})

/** The SDK's `AssistantVersion`. */
export const assistantVersion = z.object({
  assistant_id: z.string(),
  graph_id: z.string(),
  version: z.int(),
  config: fields,
  context: z.unknown(),
  metadata: fields,
  name: z.string(),
  description: z.nullable(z.string()),
  created_at: date,
})

/** The SDK's `Assistant`. */
export const assistant = z.extend(assistantVersion, { updated_at: date })

const shape = z.nullable(fields)

/** The SDK's `GraphSchema`, without the id of the graph. */
export const graphSchemas = z.object({
  input_schema: shape,
  output_schema: shape,
  state_schema: shape,
  config_schema: shape,
  context_schema: shape,
})

const id = z.union([z.string(), z.number()])

/** The SDK's `AssistantGraph`. */
export const drawing = z.looseObject({
  nodes: z.array(z.looseObject({ id })),
  edges: z.array(z.looseObject({ source: id, target: id })),
})

export const cron = z.object({
  cron_id: z.string(),
  assistant_id: z.string(),
  thread_id: z.nullable(z.string()),
  user_id: z.nullable(z.string()),
  payload: fields,
  schedule: z.string(),
  timezone: z.nullable(z.string()),
  next_run_date: z.nullable(date),
  end_time: z.nullable(date),
  on_run_completed: z.enum(['delete', 'keep']),
  enabled: z.boolean(),
  metadata: fields,
  created_at: date,
  updated_at: date,
  /** What happened at its last due time. */
  last_run: z.nullable(
    z.object({
      due_at: date,
      started_at: z.nullable(date),
      missed: z.int(),
      run_id: z.nullable(z.string()),
      thread_id: z.nullable(z.string()),
      error: z.nullable(z.unknown()),
    }),
  ),
})

export const item = z.object({
  namespace: z.array(z.string()),
  key: z.string(),
  value: fields,
  created_at: date,
  updated_at: date,
  score: z.optional(z.number()),
})
