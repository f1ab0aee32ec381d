import {
  boolean,
  either,
  list as listOf,
  map,
  nonEmpty,
  object,
  oneOf,
  optional,
  type Read,
  record,
  refuse,
  type Schema,
  string,
  unknown,
  whole,
} from '../face/schema.ts'
import type { ThreadTtl } from '../runs/index.ts'
import { type JsonPath, jsonPath } from './extract.ts'

/**
 * The wire of the Agent Streaming Protocol: the one place of this group that spells snake_case. Clients send snake_case; the
 * camelCase spelling of the specification's CDDL is accepted beside it. Unknown keys are ignored: the protocol is extensible.
 */

/** An object schema that also takes its keys in camelCase. If both are given, snake_case wins. */
/* @__NO_SIDE_EFFECTS__ */
function params<Shape extends Parameters<typeof object>[0]>(shape: Shape) {
  const read = object(shape)
  return (value: unknown, path?: string) => read(toSnake(value), path)
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

/** The most items of a list whose items are checked or compared one by one. */
const MAX_ITEMS = 1_000

/* @__NO_SIDE_EFFECTS__ */
function list<T>(item: Schema<T>, min?: number) {
  return listOf(item, min, MAX_ITEMS)
}
const namespace = list(string)

const config = params({
  configurable: optional(record),
  recursion_limit: optional(whole(1)),
  tags: optional(list(string)),
  metadata: optional(record),
})

export const commandSchema = object({
  id: either<number | string>('a whole number or a string', whole(0), string),
  method: string,
  params: unknown,
})

export const runStartSchema = params({
  assistant_id: optional(nonEmpty),
  input: unknown,
  config: optional(config),
  metadata: optional(record),
  multitask_strategy: unknown,
})

const answer = params({
  namespace: optional(namespace),
  interrupt_id: string,
  response: unknown,
})

export const inputRespondSchema = params({
  interrupt_id: optional(string),
  response: unknown,
  responses: optional(list(answer, 1)),
  update: unknown,
  goto: unknown,
  config: optional(config),
  metadata: optional(record),
})

export const inputInjectSchema = params({
  namespace: optional(namespace),
  message: object({
    role: oneOf('user', 'system'),
    content: either<string | unknown[]>('a string or an array', string, listOf(unknown)),
    name: optional(string),
  }),
})

export const stateGetSchema = params({ namespace: optional(namespace), keys: optional(list(string)) })

export const listCheckpointsSchema = params({
  namespace: optional(namespace),
  limit: optional(whole(1, 1_000)),
  before: optional(string),
})

export const stateForkSchema = params({
  checkpoint_id: string,
  input: unknown,
  config: optional(config),
})

export const getTreeSchema = params({ run_id: optional(string) })

export const streamSchema = params({
  channels: list(string, 1),
  namespaces: optional(list(namespace)),
  depth: optional(whole(0)),
  since: optional(whole(0)),
  since_event_id: optional(string),
})
export type StreamParams = Read<typeof streamSchema>

export const unsubscribeSchema = params({ subscription_id: string })

export const reconnectSchema = params({
  run_id: string,
  last_event_id: optional(string),
  subscriptions: optional(list(string)),
})

const checkpoint = params({ checkpoint_id: optional(string), checkpoint_ns: optional(string) })

/** The fields that the caller wants. */
const select = optional(list(string))

export const stateWriteSchema = params({
  values: unknown,
  checkpoint: optional(checkpoint),
  checkpoint_id: optional(string),
  as_node: optional(string),
})

export const stateMetadataSchema = params({ metadata: record })

export const checkpointStateSchema = params({
  checkpoint,
  subgraphs: optional(boolean),
  select,
})

/** `before`: a checkpoint id, a `RunnableConfig`, or a bare checkpoint. */
const address = object({ checkpoint_id: string })
const before = either(
  'a checkpoint id, or an object that has one',
  string,
  map(object({ configurable: address }), ({ configurable }) => configurable.checkpoint_id),
  map(address, ({ checkpoint_id }) => checkpoint_id),
)

export const historySchema = params({
  limit: optional(whole(0, 1_000)),
  before: optional(before),
  metadata: optional(record),
  checkpoint: optional(checkpoint),
  select,
})

const minutes: Schema<number> = (value, path = '') =>
  typeof value === 'number' && value > 0 && value <= MAX_TTL_MINUTES
    ? value
    : refuse(path, `a number of minutes, at most ${MAX_TTL_MINUTES}`)
/** Ten years. */
const MAX_TTL_MINUTES = 10 * 366 * 24 * 60

const strategy = oneOf('delete', 'keep_latest')

const ttl: Schema<ThreadTtl> = either(
  'a number of minutes, or { ttl, strategy: "delete" | "keep_latest" }',
  map(minutes, (minutes) => ({ minutes })),
  map(object({ ttl: minutes, strategy: optional(strategy) }), ({ ttl, strategy }) => ({
    minutes: ttl,
    strategy,
  })),
)

const superstep = params({
  updates: list(
    params({
      values: unknown,
      command: optional(params({ update: unknown, goto: unknown, resume: unknown })),
      as_node: optional(string),
    }),
    1,
  ),
})

export const threadPruneSchema = params({
  thread_ids: list(string),
  strategy: optional(strategy),
})

export const threadCreateSchema = params({
  thread_id: optional(string),
  metadata: optional(record),
  if_exists: optional(oneOf('raise', 'do_nothing')),
  ttl: optional(ttl),
  supersteps: optional(list(superstep)),
})

export const threadPatchSchema = params({ metadata: optional(record), ttl: optional(ttl) })

const MAX_EXTRACTED = 10
const extracted: Schema<readonly (readonly [alias: string, path: JsonPath])[]> = (value, path = '') => {
  const entries = Object.entries(record(value, path))
  if (entries.length > MAX_EXTRACTED) refuse(path, `at most ${MAX_EXTRACTED} paths`)
  return entries.map(([alias, one]) => [alias, jsonPath(one, `${path}.${alias}`)])
}

export const threadSearchSchema = params({
  metadata: optional(record),
  values: optional(record),
  ids: optional(list(string)),
  select,
  extract: optional(extracted),
  status: optional(oneOf('idle', 'busy', 'interrupted', 'error')),
  limit: optional(whole(1, 1_000)),
  offset: optional(whole(0)),
  sort_by: optional(oneOf('thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at')),
  sort_order: optional(oneOf('asc', 'desc')),
})
