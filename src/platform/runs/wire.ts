import {
  boolean,
  either,
  list,
  map,
  nonEmpty,
  type ObjectOf,
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
} from '../../face/schema.ts'

/** The wire of runs on LangGraph's platform: the one place of this room that spells its names. Unknown keys are ignored. */

/** The most items of a list whose items are checked one by one. */
const MAX_ITEMS = 1_000

/** A week is more than anybody waits with a run; schedules are for what is later. */
const MAX_AFTER_SECONDS = 7 * 24 * 60 * 60

const seconds: Schema<number> = (value, path = '') =>
  typeof value === 'number' && value >= 0 && value <= MAX_AFTER_SECONDS
    ? value
    : refuse(path, `a number from 0 to ${MAX_AFTER_SECONDS}`)

export const STREAM_MODES = [
  'values',
  'updates',
  'messages',
  'messages-tuple',
  'custom',
  'events',
  'tasks',
  'checkpoints',
  'debug',
  'tools',
] as const

export type StreamMode = (typeof STREAM_MODES)[number]

/* @__NO_SIDE_EFFECTS__ */
function oneOrMore<T>(expected: string, item: Schema<T>): Schema<T[]> {
  return either(
    expected,
    list(item, 0, MAX_ITEMS),
    map(item, (one) => [one]),
  )
}

const mode = oneOf(...STREAM_MODES)
export const modesSchema = oneOrMore(`one or more of ${STREAM_MODES.join(', ')}`, mode)

const nodes = either<'*' | string[]>('"*" or an array of nodes', oneOf('*'), list(nonEmpty, 0, MAX_ITEMS))

const config = object({
  tags: optional(list(string, 0, MAX_ITEMS)),
  recursion_limit: optional(whole(1)),
  configurable: optional(record),
  metadata: optional(record),
})

const checkpoint = object({
  checkpoint_id: optional(string),
  checkpoint_ns: optional(string),
  checkpoint_map: optional(record),
})

const pairs = list<unknown>((value, path = '') => {
  if (Array.isArray(value) && value.length === 2 && typeof value[0] === 'string') return value
  return refuse(path, 'a key and a value')
})

const command = object({
  resume: unknown,
  update: optional(either<unknown>('an object or an array of [key, value]', record, pairs)),
  goto: unknown,
})

const fields = {
  input: unknown,
  command: optional(command),
  checkpoint_id: optional(string),
  checkpoint: optional(checkpoint),
  config: optional(config),
  context: optional(record),
  metadata: optional(record),
  webhook: optional(nonEmpty),
  interrupt_before: optional(nodes),
  interrupt_after: optional(nodes),
  on_disconnect: optional(oneOf('cancel', 'continue')),
  multitask_strategy: optional(oneOf('reject', 'rollback', 'interrupt', 'enqueue')),
  stream_mode: optional(modesSchema),
  stream_subgraphs: optional(boolean),
  stream_resumable: optional(boolean),
  after_seconds: optional(seconds),
  if_not_exists: optional(oneOf('reject', 'create')),
  on_completion: optional(oneOf('delete', 'keep')),
  durability: optional(oneOf('sync', 'async', 'exit')),
  checkpoint_during: optional(boolean),
  feedback_keys: optional(list(string, 0, MAX_ITEMS)),
} as const

/** The body that creates a run, of every route that does. */
export const runCreateSchema: Schema<RunCreate> = object({ assistant_id: nonEmpty, ...fields })
export type RunCreate = ObjectOf<{ readonly assistant_id: Schema<string> } & typeof fields>

/** The most runs of one request: each is started before the answer. */
const MAX_BATCH = 100
export const batchSchema = list(runCreateSchema, 0, MAX_BATCH)

export const cancelManySchema = object({
  thread_id: optional(nonEmpty),
  run_ids: optional(list(nonEmpty, 0, MAX_ITEMS)),
  status: optional(oneOf('pending', 'running', 'all')),
})
export type CancelMany = Read<typeof cancelManySchema>

export const statusSchema = oneOf('pending', 'running', 'success', 'error', 'timeout', 'interrupted')
export type RunStatusWire = Read<typeof statusSchema>
