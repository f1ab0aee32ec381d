// The name `z`, because esbuild without code splitting forgets to start zod for a namespace import beside LangGraph's.
import { z } from 'zod'

/**
 * The wire of the Agent Streaming Protocol: the one place of this group that spells snake_case. Clients send snake_case; the
 * camelCase spelling of the specification's CDDL is accepted beside it. Unknown keys are ignored: the protocol is extensible.
 */

/** An object schema that also takes its keys in camelCase. If both are given, snake_case wins. */
function params<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(toSnake, z.object(shape))
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

/** The length is checked before the items, each of which costs more than its bytes. */
const list = <Item extends z.ZodType>(item: Item, min = 0) =>
  z.array(z.unknown()).min(min).max(MAX_ITEMS).pipe(z.array(item))

const record = z.record(z.string(), z.unknown())
const namespace = list(z.string())
/** Many clients send null for what they leave out. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined)

const config = params({
  configurable: optional(record),
  recursion_limit: optional(z.int().positive()),
  tags: optional(list(z.string())),
  metadata: optional(record),
})

export const commandSchema = z.object({
  id: z.union([z.int().nonnegative(), z.string()]),
  method: z.string(),
  params: z.unknown().optional(),
})

export const runStartSchema = params({
  assistant_id: optional(z.string().min(1)),
  input: z.unknown().optional(),
  config: optional(config),
  metadata: optional(record),
  multitask_strategy: z.unknown().optional(),
})

const answer = params({
  namespace: optional(namespace),
  interrupt_id: z.string(),
  response: z.unknown().optional(),
})

export const inputRespondSchema = params({
  interrupt_id: optional(z.string()),
  response: z.unknown().optional(),
  responses: optional(list(answer, 1)),
  update: z.unknown().optional(),
  goto: z.unknown().optional(),
  config: optional(config),
  metadata: optional(record),
})

export const inputInjectSchema = params({
  namespace: optional(namespace),
  message: z.object({
    role: z.enum(['user', 'system']),
    content: z.union([z.string(), z.array(z.unknown())]),
    name: optional(z.string()),
  }),
})

export const stateGetSchema = params({ namespace: optional(namespace), keys: optional(list(z.string())) })

export const listCheckpointsSchema = params({
  namespace: optional(namespace),
  limit: optional(z.int().min(1).max(1_000)),
  before: optional(z.string()),
})

export const stateForkSchema = params({
  checkpoint_id: z.string(),
  input: z.unknown().optional(),
  config: optional(config),
})

export const getTreeSchema = params({ run_id: optional(z.string()) })

export const streamSchema = params({
  channels: list(z.string(), 1),
  namespaces: optional(list(namespace)),
  depth: optional(z.int().nonnegative()),
  since: optional(z.int().nonnegative()),
  since_event_id: optional(z.string()),
})

const checkpoint = params({ checkpoint_id: optional(z.string()), checkpoint_ns: optional(z.string()) })

export const stateWriteSchema = params({
  values: z.unknown().optional(),
  checkpoint: optional(checkpoint),
  checkpoint_id: optional(z.string()),
  as_node: optional(z.string()),
})

export const checkpointStateSchema = params({ checkpoint, subgraphs: optional(z.boolean()) })

/** `before`: a checkpoint id, a `RunnableConfig`, or a bare checkpoint. */
const before = z.union([
  z.string(),
  z
    .object({ configurable: z.object({ checkpoint_id: z.string() }) })
    .transform((it) => it.configurable.checkpoint_id),
  z.object({ checkpoint_id: z.string() }).transform((it) => it.checkpoint_id),
])

export const historySchema = params({
  limit: optional(z.int().min(1).max(1_000)),
  before: optional(before),
  metadata: optional(record),
  checkpoint: optional(checkpoint),
})

export const threadCreateSchema = params({
  thread_id: optional(z.string()),
  metadata: optional(record),
  if_exists: optional(z.enum(['raise', 'do_nothing'])),
})

export const threadPatchSchema = params({ metadata: optional(record) })

export const threadSearchSchema = params({
  metadata: optional(record),
  values: optional(record),
  ids: optional(list(z.string())),
  select: optional(list(z.string())),
  status: optional(z.enum(['idle', 'busy', 'interrupted', 'error'])),
  limit: optional(z.int().min(1).max(1_000)),
  offset: optional(z.int().nonnegative()),
  sort_by: optional(z.enum(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'])),
  sort_order: optional(z.enum(['asc', 'desc'])),
})
