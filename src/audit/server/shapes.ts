import { isRecord } from '../../messages/record.ts'
import { hold } from '../check.ts'
import { at } from './events.ts'

/**
 * What a value must be, in words, or undefined where it is that. No library: zod would be an eighth of the bytes of
 * all audits together.
 */
type Shape = (value: unknown) => string | undefined

const is =
  (words: string, holds: (value: unknown) => boolean): Shape =>
  (value) =>
    holds(value) ? undefined : words

const anything = is('anything', (value) => value !== undefined)
const text = is('text', (value) => typeof value === 'string')
const count = is('a whole number from 0', (value) => Number.isSafeInteger(value) && Number(value) >= 0)
const integer = is('a whole number', Number.isSafeInteger)
const list = is('a list', Array.isArray)
const object = is('an object', isRecord)
const oneOf = (...words: readonly unknown[]): Shape =>
  is(`one of ${words.join(', ')}`, (value) => words.includes(value))
const or =
  (nothing: null | undefined) =>
  (shape: Shape): Shape =>
  (value) =>
    value === nothing ? undefined : shape(value)
const nullOr = or(null)
const optional = or(undefined)

const fields =
  (shapes: Readonly<Record<string, Shape>>): Shape =>
  (value) => {
    if (!isRecord(value)) return 'an object'
    for (const [name, shape] of Object.entries(shapes)) {
      const wrong = shape(value[name])
      if (wrong) return `${wrong} in ${name}`
    }
    return undefined
  }

/** The shape by the value of the field `event`. */
const byEvent =
  (shapes: Readonly<Record<string, Shape>>): Shape =>
  (value) => {
    const event = String(at(value, 'event'))
    if (!Object.hasOwn(shapes, event)) return `one of ${Object.keys(shapes).join(', ')} in event`
    return shapes[event]!(value)
  }

const call = { tool_call_id: text }
const block = fields({ type: text })
const usage = optional(
  fields({ input_tokens: optional(count), output_tokens: optional(count), total_tokens: optional(count) }),
)

const DELTAS: Readonly<Record<string, Shape>> = {
  'text-delta': fields({ text }),
  'reasoning-delta': fields({ reasoning: text }),
  'data-delta': fields({ data: text }),
  'tool-call-delta': fields({ args: text }),
  'block-delta': fields({ fields: block }),
}

// A block that is delta and content in one is the older form of a delta; kinds of deltas may be added.
const delta: Shape = (value) => block(value) ?? DELTAS[String(at(value, 'type'))]?.(value)

/** `data` of the events of each method. Fields that are not named here are allowed everywhere: the protocol is extensible. */
const DATA = {
  lifecycle: fields({
    event: oneOf('started', 'running', 'completed', 'failed', 'interrupted'),
    graph_name: optional(text),
    error: optional(text),
    cause: optional(block),
    checkpoint: optional(fields({ id: text })),
  }),
  values: object,
  updates: fields({ node: optional(text), values: anything }),
  checkpoints: fields({
    id: text,
    parent_id: optional(nullOr(text)),
    step: integer,
    source: oneOf('input', 'loop', 'update', 'fork'),
  }),
  tasks: fields({ id: text, name: text }),
  custom: fields({ payload: anything, name: optional(nullOr(text)) }),
  'input.requested': fields({ interrupt_id: text, payload: anything }),
  messages: byEvent({
    'message-start': fields({ id: text, role: optional(oneOf('ai', 'human', 'system', 'tool')) }),
    'content-block-start': fields({ index: count, content: block }),
    'content-block-delta': fields({ index: count, delta }),
    'content-block-finish': fields({ index: count, content: block }),
    'message-finish': fields({ usage }),
    usage: fields({ usage }),
    provider: object,
    error: fields({ message: text }),
  }),
  tools: byEvent({
    'tool-started': fields({ ...call, tool_name: text }),
    'tool-output-delta': fields({ ...call, delta: text }),
    'tool-finished': fields({ ...call, output: anything }),
    'tool-error': fields({ ...call, message: text }),
  }),
}

const namespace = is(
  'a list of texts',
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
)

const ENVELOPE = fields({
  type: oneOf('event'),
  event_id: is('a text that is not empty', (value) => typeof value === 'string' && value !== ''),
  seq: count,
  method: text,
  params: fields({ namespace, timestamp: count, data: anything, node: optional(text) }),
})

const checkpoint = fields({ checkpoint_id: text, checkpoint_ns: text })

const STATE = fields({
  values: object,
  next: list,
  tasks: list,
  metadata: fields({ source: text, step: integer }),
  created_at: text,
  checkpoint,
  parent_checkpoint: nullOr(checkpoint),
})

const MESSAGE = fields({ type: oneOf('human', 'ai', 'system', 'tool'), content: anything, id: text })

export type ShapedMethod = keyof typeof DATA

function fits(what: string, shape: Shape, value: unknown): void {
  const wrong = shape(value)
  hold(what, wrong === undefined, wrong ?? '', value)
}

/** Checks what every event must have, of an event as it was sent. */
export const isEnvelope = (sent: unknown): void => fits('an event', ENVELOPE, sent)

/** Checks the data of an event. */
export const isData = (method: ShapedMethod, data: unknown): void =>
  fits(`the data of a ${method} event`, DATA[method], data)

/** Checks a state of a thread, as `GET …/state` and `POST …/history` give it. */
export const isState = (value: unknown): void => fits('a state', STATE, value)

/** Checks a message of a state. */
export const isFlatMessage = (value: unknown): void => fits('a message of the state', MESSAGE, value)
