import * as z from 'zod/mini'

/** The protocol's events on the wire: docs/protocol.md §5. Additional fields are allowed. */

const text = z.string()
const count = z.int().check(z.gte(0))
const anything = z.optional(z.unknown())
const checkpointSource = z.enum(['input', 'loop', 'update', 'fork'])
const block = z.looseObject({ type: text })
const usage = z.optional(
  z.looseObject({
    input_tokens: z.optional(count),
    output_tokens: z.optional(count),
    total_tokens: z.optional(count),
  }),
)

const lifecycle = z.looseObject({
  event: z.enum(['running', 'started', 'completed', 'failed', 'interrupted']),
  graph_name: z.optional(text),
  run_id: z.optional(text),
  error: anything,
  cause: z.optional(block),
})

const message = z.union([
  z.looseObject({ event: z.literal('message-start'), id: text, role: z.optional(text) }),
  z.looseObject({ event: z.literal('content-block-start'), index: count, content: block }),
  z.looseObject({ event: z.literal('content-block-delta'), index: count, delta: block }),
  z.looseObject({ event: z.literal('content-block-finish'), index: count, content: block }),
  z.looseObject({ event: z.literal('message-finish'), usage }),
  z.looseObject({ event: z.literal('usage'), usage }),
  z.looseObject({ event: z.literal('provider') }),
  z.looseObject({ event: z.literal('error'), message: text }),
])

const tool = z.union([
  z.looseObject({ event: z.literal('tool-started'), tool_call_id: text, tool_name: text }),
  z.looseObject({ event: z.literal('tool-output-delta'), tool_call_id: text, delta: text }),
  z.looseObject({ event: z.literal('tool-finished'), tool_call_id: text, output: anything }),
  z.looseObject({ event: z.literal('tool-error'), tool_call_id: text, message: text }),
])

function event<const Method extends string, Data extends z.ZodMiniType>(method: Method, data: Data) {
  return z.looseObject({
    type: z.literal('event'),
    event_id: text.check(z.minLength(1)),
    seq: count,
    method: z.literal(method),
    params: z.looseObject({ namespace: z.array(text), timestamp: count, node: z.optional(text), data }),
  })
}

export const eventSchema = z.union([
  event('lifecycle', lifecycle),
  event('messages', message),
  event('tools', tool),
  event('values', z.unknown()),
  event('updates', z.looseObject({ node: z.optional(text), values: anything })),
  event(
    'checkpoints',
    z.looseObject({
      id: text,
      parent_id: z.nullish(text),
      step: z.int(),
      source: checkpointSource,
      values_omitted: z.optional(z.literal(true)),
    }),
  ),
  event('tasks', z.looseObject({ id: text, name: text })),
  event('input.requested', z.looseObject({ interrupt_id: text, payload: anything })),
  event('custom', z.looseObject({ name: z.nullish(text), payload: anything })),
])
