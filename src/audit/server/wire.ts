import * as z from 'zod/mini'

/**
 * The parts of the protocol that the audits check. Other fields are allowed, because the protocol is
 * extensible.
 */

const fields = <Shape extends z.core.$ZodShape>(shape: Shape) => z.looseObject(shape, 'an object')
const oneOf = <const Word extends string>(...words: readonly Word[]) =>
  z.enum(words, `one of ${words.join(', ')}`)

/** Selects a schema by the field `event`. */
function byEvent(shapes: Readonly<Record<string, z.core.$ZodShape>>): z.ZodMiniType {
  const schemas = new Map(Object.entries(shapes).map(([event, shape]) => [event, fields(shape)]))
  return fields({ event: oneOf(...schemas.keys()) }).check(refined(({ event }) => schemas.get(event)))
}

/** Validates a value with the schema that it selects. */
const refined =
  <Value>(choose: (value: Value) => z.ZodMiniType | undefined) =>
  ({ value, issues }: z.core.ParsePayload<Value>): void => {
    const wrong = choose(value)?.safeParse(value).error?.issues ?? []
    issues.push(...wrong.map((issue) => ({ ...issue, input: value }) as z.core.$ZodRawIssue))
  }

const anything = z.custom((value) => value !== undefined, 'anything')
const text = z.string('text')
const integer = z.int('a whole number')
const count = z.int('a whole number from 0').check(z.nonnegative('a whole number from 0'))
const list = z.array(z.unknown(), 'a list')
const object = fields({})
const block = fields({ type: text })
const tokens = z.optional(count)
const usage = z.optional(fields({ input_tokens: tokens, output_tokens: tokens, total_tokens: tokens }))
const checkpoint = fields({ checkpoint_id: text, checkpoint_ns: text })

const DELTAS = new Map<string, z.ZodMiniType>([
  ['text-delta', fields({ text })],
  ['reasoning-delta', fields({ reasoning: text })],
  ['data-delta', fields({ data: text })],
  ['tool-call-delta', fields({ args: text })],
  ['block-delta', fields({ fields: block })],
])
// A block that is both delta and content is the older form of a delta. The protocol may add kinds of deltas.
const delta = block.check(refined(({ type }) => DELTAS.get(type)))

export const event = fields({
  type: oneOf('event'),
  event_id: z.string('a text that is not empty').check(z.minLength(1, 'a text that is not empty')),
  seq: count,
  method: text,
  params: fields({
    namespace: z.array(z.string('a list of texts'), 'a list of texts'),
    timestamp: count,
    data: anything,
    node: z.optional(text),
  }),
})

/** A state of a thread, as `GET …/state` and `POST …/history` return it. */
export const state = fields({
  values: object,
  next: list,
  tasks: list,
  metadata: fields({ source: text, step: integer }),
  created_at: text,
  checkpoint,
  parent_checkpoint: z.nullable(checkpoint),
})

/** A message in a state. */
export const message = fields({ type: oneOf('human', 'ai', 'system', 'tool'), content: anything, id: text })

/** `data` of the events of each method. */
export const data = {
  lifecycle: fields({
    event: oneOf('started', 'running', 'completed', 'failed', 'interrupted'),
    graph_name: z.optional(text),
    error: z.optional(text),
    cause: z.optional(block),
    checkpoint: z.optional(fields({ id: text })),
  }),
  values: object,
  updates: fields({ node: z.optional(text), values: anything }),
  checkpoints: fields({
    id: text,
    parent_id: z.nullish(text),
    step: integer,
    source: oneOf('input', 'loop', 'update', 'fork'),
  }),
  tasks: fields({ id: text, name: text }),
  custom: fields({ payload: anything, name: z.nullish(text) }),
  'input.requested': fields({ interrupt_id: text, payload: anything }),
  messages: byEvent({
    'message-start': { id: text, role: z.optional(oneOf('ai', 'human', 'system', 'tool')) },
    'content-block-start': { index: count, content: block },
    'content-block-delta': { index: count, delta },
    'content-block-finish': { index: count, content: block },
    'message-finish': { usage },
    usage: { usage },
    provider: {},
    error: { message: text },
  }),
  tools: byEvent({
    'tool-started': { tool_call_id: text, tool_name: text },
    'tool-output-delta': { tool_call_id: text, delta: text },
    'tool-finished': { tool_call_id: text, output: anything },
    'tool-error': { tool_call_id: text, message: text },
  }),
}
