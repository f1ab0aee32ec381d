import * as z from 'zod/mini'
import type { ThreadTtl } from '../../engine/index.ts'
import type { Read, Schema } from '../kit/parse.ts'
import {
  anything,
  fewKeys,
  integer,
  list as listOf,
  map,
  nonEmpty,
  number,
  object,
  record,
  refuse,
} from '../kit/schema.ts'
import { type JsonPath, MAX_PATH, stepsOf } from './extract.ts'

/**
 * The wire format of the Agent Streaming Protocol: the only place in this group with snake_case names.
 * Clients send snake_case; the camelCase names of the specification's CDDL are also accepted. Unknown keys
 * are ignored, because the protocol is extensible.
 */

/**
 * An object schema that also accepts its keys in camelCase. If both are present, snake_case takes precedence.
 */
function params<Shape extends z.core.$ZodShape>(shape: Shape) {
  return object(shape, toSnake)
}

function toSnake(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? {}
  const renamed: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    const snake = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    if (snake === key || !Object.hasOwn(value, snake)) renamed[snake] = item
  }
  return renamed
}

/** The maximum length of a list whose items are validated or compared individually. */
const MAX_ITEMS = 1_000

function list<Item extends Schema>(item: Item, min = 0) {
  return listOf(item, min, MAX_ITEMS)
}
const namespace = list(z.string())

const config = params({
  configurable: z.optional(record),
  recursion_limit: z.optional(integer(1)),
  tags: z.optional(list(z.string())),
  metadata: z.optional(record),
})

export const commandSchema = object({
  id: z.union([integer(0), z.string()], 'a whole number or a string'),
  method: z.string(),
  params: anything,
})

export const runStartSchema = params({
  assistant_id: z.optional(nonEmpty),
  input: anything,
  config: z.optional(config),
  metadata: z.optional(record),
  multitask_strategy: anything,
})

const answer = params({
  namespace: z.optional(namespace),
  interrupt_id: z.string(),
  response: anything,
})

export const inputRespondSchema = params({
  interrupt_id: z.optional(z.string()),
  response: anything,
  responses: z.optional(list(answer, 1)),
  update: anything,
  goto: anything,
  config: z.optional(config),
  metadata: z.optional(record),
})

export const inputInjectSchema = params({
  namespace: z.optional(namespace),
  message: object({
    role: z.enum(['user', 'system']),
    content: z.union([z.string(), z.array(z.unknown())], 'a string or an array'),
    name: z.optional(z.string()),
  }),
})

export const stateGetSchema = params({ namespace: z.optional(namespace), keys: z.optional(list(z.string())) })

export const listCheckpointsSchema = params({
  namespace: z.optional(namespace),
  limit: z.optional(integer(1, 1_000)),
  before: z.optional(z.string()),
})

export const stateForkSchema = params({
  checkpoint_id: z.string(),
  input: anything,
  config: z.optional(config),
})

export const getTreeSchema = params({ run_id: z.optional(z.string()) })

export const streamSchema = params({
  channels: list(z.string(), 1),
  namespaces: z.optional(list(namespace)),
  depth: z.optional(integer(0)),
  since: z.optional(integer(0)),
  since_event_id: z.optional(z.string()),
})
export type StreamParams = Read<typeof streamSchema>

export const unsubscribeSchema = params({ subscription_id: z.string() })

export const reconnectSchema = params({
  run_id: z.string(),
  last_event_id: z.optional(z.string()),
  subscriptions: z.optional(list(z.string())),
})

const checkpoint = params({ checkpoint_id: z.optional(z.string()), checkpoint_ns: z.optional(z.string()) })

/** The fields that the caller requests. */
const select = z.optional(list(z.string()))

export const stateWriteSchema = params({
  values: anything,
  checkpoint: z.optional(checkpoint),
  checkpoint_id: z.optional(z.string()),
  as_node: z.optional(z.string()),
})

export const stateMetadataSchema = params({ metadata: record })

export const checkpointStateSchema = params({
  checkpoint: z.optional(checkpoint),
  subgraphs: z.optional(z.boolean()),
  select,
})

/** `before`: a checkpoint id, a `RunnableConfig`, or a plain checkpoint. */
const address = object({ checkpoint_id: z.string() })
const before = z.union(
  [
    z.string(),
    map(object({ configurable: address }), ({ configurable }) => configurable.checkpoint_id),
    map(address, ({ checkpoint_id }) => checkpoint_id),
  ],
  'a checkpoint id, or an object that has one',
)

export const historySchema = params({
  limit: z.optional(integer(0, 1_000)),
  before: z.optional(before),
  metadata: z.optional(fewKeys),
  checkpoint: z.optional(checkpoint),
  select,
})

/** Ten years. */
const MAX_TTL_MINUTES = 10 * 366 * 24 * 60

const minutes = number(
  `a number of minutes, at most ${MAX_TTL_MINUTES}`,
  z.gt(0, { abort: true }),
  z.lte(MAX_TTL_MINUTES, { abort: true }),
)

const strategy = z.enum(['delete', 'keep_latest'])

const ttl = z.union(
  [
    map(minutes, (minutes): ThreadTtl => ({ minutes })),
    map(
      object({ ttl: minutes, strategy: z.optional(strategy) }),
      ({ ttl, strategy }): ThreadTtl => ({ minutes: ttl, strategy }),
    ),
  ],
  'a number of minutes, or { ttl, strategy: "delete" | "keep_latest" }',
)

const superstep = params({
  updates: list(
    params({
      values: anything,
      command: z.optional(params({ update: anything, goto: anything, resume: anything })),
      as_node: z.optional(z.string()),
    }),
    1,
  ),
})

export const threadPruneSchema = params({
  thread_ids: list(z.string()),
  strategy: z.optional(strategy),
})

export const threadCreateSchema = params({
  thread_id: z.optional(z.string()),
  metadata: z.optional(record),
  if_exists: z.optional(z.enum(['raise', 'do_nothing'])),
  ttl: z.optional(ttl),
  supersteps: z.optional(list(superstep)),
})

export const threadPatchSchema = params({ metadata: z.optional(record), ttl: z.optional(ttl) })

const MAX_PATHS = 10

/** Paths to extract in a search, by their names in the result. */
const paths = map(record, (given, payload) => {
  const entries = Object.entries(given)
  if (entries.length > MAX_PATHS) refuse(payload, `at most ${MAX_PATHS} paths`)
  return entries.map(([alias, text]): readonly [alias: string, path: JsonPath] => {
    const path = typeof text === 'string' ? stepsOf(text) : refuse(payload, 'a string', alias)
    const expected = `a path such as values.messages[-1].content, of at most ${MAX_PATH} characters`
    return [alias, path ?? refuse(payload, expected, alias)]
  })
})

export const threadSearchSchema = params({
  metadata: z.optional(fewKeys),
  values: z.optional(fewKeys),
  ids: z.optional(list(z.string())),
  select,
  extract: z.optional(paths),
  status: z.optional(z.enum(['idle', 'busy', 'interrupted', 'error'])),
  limit: z.optional(integer(1, 1_000)),
  offset: z.optional(integer(0)),
  sort_by: z.optional(z.enum(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'])),
  sort_order: z.optional(z.enum(['asc', 'desc'])),
})

export type StateWriteBody = Read<typeof stateWriteSchema>
export type StateMetadataBody = Read<typeof stateMetadataSchema>
export type CheckpointStateBody = Read<typeof checkpointStateSchema>
export type HistoryBody = Read<typeof historySchema>
export type ThreadPruneBody = Read<typeof threadPruneSchema>
export type ThreadCreateBody = Read<typeof threadCreateSchema>
export type ThreadPatchBody = Read<typeof threadPatchSchema>
