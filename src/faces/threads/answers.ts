import * as z from 'zod/mini'

/** The responses of the protocol's routes. */

const fields = z.record(z.string(), z.unknown())
export const date = z.iso.datetime()
const interrupt = z.looseObject({ id: z.string(), value: z.optional(z.unknown()) })

const checkpoint = z.object({
  thread_id: z.string(),
  checkpoint_ns: z.string(),
  checkpoint_id: z.optional(z.nullable(z.string())),
  checkpoint_map: z.optional(z.nullable(z.record(z.string(), z.string()))),
})

const stateFields = {
  values: fields,
  next: z.array(z.string()),
  metadata: fields,
  created_at: z.nullable(z.string()),
  checkpoint,
  parent_checkpoint: z.nullable(checkpoint),
}

/** The SDK's `ThreadState`. */
export const threadState = z.object({
  ...stateFields,
  tasks: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      error: z.optional(z.unknown()),
      interrupts: z.array(interrupt),
      path: z.optional(z.array(z.unknown())),
      checkpoint: z.nullable(checkpoint),
      /** A `ThreadState`, if subgraphs were requested. */
      state: z.nullable(fields),
      result: z.unknown(),
    }),
  ),
})

export const threadStatus = z.enum(['idle', 'busy', 'interrupted', 'error'])

/** The SDK's `Thread`. */
export const thread = z.object({
  thread_id: z.string(),
  created_at: date,
  updated_at: date,
  state_updated_at: date,
  metadata: fields,
  status: threadStatus,
  values: z.nullable(fields),
  interrupts: z.record(z.string(), z.array(interrupt)),
  config: fields,
  error: z.nullable(z.unknown()),
})

/** An entry of a thread list for a sidebar. */
export const threadTitle = z.object({
  id: z.string(),
  title: z.nullable(z.string()),
  updatedAt: date,
  status: threadStatus,
})

const id = z.nullable(z.union([z.int(), z.string()]))

/** The answer to a command. A rejection is also an answer. */
export const commandAnswer = z.union([
  z.object({
    type: z.literal('success'),
    id,
    result: fields,
    meta: z.object({ thread_id: z.string(), applied_through_seq: z.optional(z.int()) }),
  }),
  z.looseObject({ type: z.literal('error'), id, error: z.string(), message: z.string() }),
])
