import * as z from 'zod/mini'
import type { RunRecord } from '../../../engine/index.ts'
import type { Read } from '../../kit/parse.ts'
import {
  anything,
  fewKeys,
  integer,
  list,
  map,
  nonEmpty,
  number,
  object,
  record,
  refuse,
} from '../../kit/schema.ts'

/**
 * Bodies of runs in the REST API of LangGraph's platform. Only this file in the folder uses its wire names.
 * Unknown keys are ignored.
 */

/** Longer lists are not validated item by item. */
const MAX_ITEMS = 1_000

/** A week. Schedules are for later runs. */
const MAX_AFTER_SECONDS = 7 * 24 * 60 * 60

const seconds = number(`a number from 0 to ${MAX_AFTER_SECONDS}`, z.gte(0), z.lte(MAX_AFTER_SECONDS))

const STREAM_MODES = [
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

const mode = z.enum(STREAM_MODES)
export const modesSchema = z.union(
  [list(mode, 0, MAX_ITEMS), map(mode, (one) => [one])],
  `one or more of ${STREAM_MODES.join(', ')}`,
)

const nodes = z.union([z.literal('*'), list(nonEmpty, 0, MAX_ITEMS)], '"*" or an array of nodes')

const config = object({
  tags: z.optional(list(z.string(), 0, MAX_ITEMS)),
  recursion_limit: z.optional(integer(1)),
  configurable: z.optional(record),
  metadata: z.optional(record),
})

const checkpoint = object({
  checkpoint_id: z.optional(z.string()),
  checkpoint_ns: z.optional(z.string()),
  checkpoint_map: z.optional(record),
})

const pair = map(z.unknown(), (value, payload): [string, unknown] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string'
    ? [value[0], value[1]]
    : refuse(payload, 'a key and a value'),
)

const command = object({
  resume: anything,
  update: z.optional(z.union([record, z.array(pair)], 'an object or an array of [key, value]')),
  goto: anything,
})

const fields = {
  input: anything,
  command: z.optional(command),
  checkpoint_id: z.optional(z.string()),
  checkpoint: z.optional(checkpoint),
  config: z.optional(config),
  context: z.optional(fewKeys),
  metadata: z.optional(record),
  webhook: z.optional(nonEmpty),
  interrupt_before: z.optional(nodes),
  interrupt_after: z.optional(nodes),
  on_disconnect: z.optional(z.enum(['cancel', 'continue'])),
  multitask_strategy: z.optional(z.enum(['reject', 'rollback', 'interrupt', 'enqueue'])),
  stream_mode: z.optional(modesSchema),
  stream_subgraphs: z.optional(z.boolean()),
  stream_resumable: z.optional(z.boolean()),
  after_seconds: z.optional(seconds),
  if_not_exists: z.optional(z.enum(['reject', 'create'])),
  on_completion: z.optional(z.enum(['delete', 'keep'])),
  durability: z.optional(z.enum(['sync', 'async', 'exit'])),
  checkpoint_during: z.optional(z.boolean()),
  feedback_keys: z.optional(list(z.string(), 0, MAX_ITEMS)),
}

/** The body of every route that creates a run. */
export const runCreateSchema = object({ assistant_id: nonEmpty, ...fields })
export type RunCreate = Read<typeof runCreateSchema>

/** The maximum number of runs in one request: each is started before the response. */
const MAX_BATCH = 100
export const batchSchema = list(runCreateSchema, 0, MAX_BATCH)

export const cancelManySchema = object({
  thread_id: z.optional(nonEmpty),
  run_ids: z.optional(list(nonEmpty, 0, MAX_ITEMS)),
  status: z.optional(z.enum(['pending', 'running', 'all'])),
})
export type CancelMany = Read<typeof cancelManySchema>

export const statusSchema = z.enum(['pending', 'running', 'success', 'error', 'timeout', 'interrupted'])
type RunStatusWire = Read<typeof statusSchema>

/** The details that the engine stores with a run for this face. */
export interface RunDetails {
  /** A UUID. */
  readonly assistant_id: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** The run's request, for clients that show it. */
  readonly kwargs: Readonly<Record<string, unknown>>
}

/** The details of a run. A run that no REST client created has none. */
export const detailsOf = ({ details, assistantId, config }: RunRecord): RunDetails => {
  const kept = details as RunDetails | undefined
  return kept?.kwargs ? kept : { assistant_id: assistantId, metadata: config.metadata ?? {}, kwargs: {} }
}

/** A run that stopped at an interrupt is a `success`; a cancelled run is `interrupted`. */
export function statusOf({ status, end }: RunRecord): RunStatusWire {
  if (end?.reason === 'timed_out') return 'timeout'
  return status === 'interrupted' && end?.reason === null ? 'success' : status
}

/** A run as the SDK's `Run`. */
export function presentRun(run: RunRecord) {
  const { assistant_id, metadata, kwargs } = detailsOf(run)
  return {
    run_id: run.runId,
    thread_id: run.threadId,
    assistant_id,
    created_at: new Date(run.createdAt).toISOString(),
    updated_at: new Date(run.end?.at ?? run.startedAt ?? run.createdAt).toISOString(),
    status: statusOf(run),
    metadata,
    kwargs,
    multitask_strategy: run.multitaskStrategy,
  }
}
