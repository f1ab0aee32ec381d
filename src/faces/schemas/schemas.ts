import type { StandardSchemaV1 } from '@standard-schema/spec'
import * as z from 'zod/mini'
import { CONTEXT, type Read, type Schema } from '../kit/parse.ts'
import * as platform from '../rest/answers.ts'
import * as assistants from '../rest/assistants/wire.ts'
import * as crons from '../rest/crons/wire.ts'
import * as runs from '../rest/runs/wire.ts'
import * as threads from '../threads/answers.ts'
import * as wire from '../threads/wire.ts'

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

const eventSchema = z.union([
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

/** Expanded, so that a schema's types need no other package. */
type Plain<T> = T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T

/* @__NO_SIDE_EFFECTS__ */
function standard<S extends Schema>(schema: S): StandardSchemaV1<unknown, Plain<Read<S>>> {
  return {
    '~standard': {
      version: 1,
      vendor: 'agentwire',
      validate(value) {
        const result = schema.safeParse(value, CONTEXT)
        if (result.success) return { value: result.data as Plain<Read<S>> }
        return {
          issues: result.error.issues.map(({ message, path }) => ({ message: `expected ${message}`, path })),
        }
      },
    },
  }
}

/** A command of the protocol. Its params have their own schema. */
export const command = /* @__PURE__ */ standard(wire.commandSchema)
/** The answer to a command. */
export const commandAnswer = /* @__PURE__ */ standard(threads.commandAnswer)
/** The params of `run.start`. */
export const runStart = /* @__PURE__ */ standard(wire.runStartSchema)
/** The params of `input.respond`. */
export const inputRespond = /* @__PURE__ */ standard(wire.inputRespondSchema)
/** The params of `input.inject`. */
export const inputInject = /* @__PURE__ */ standard(wire.inputInjectSchema)
/** The params of `state.get`. */
export const stateGet = /* @__PURE__ */ standard(wire.stateGetSchema)
/** The params of `state.listCheckpoints`. */
export const listCheckpoints = /* @__PURE__ */ standard(wire.listCheckpointsSchema)
/** The params of `state.fork`. */
export const stateFork = /* @__PURE__ */ standard(wire.stateForkSchema)
/** The params of `agent.getTree`. */
export const getTree = /* @__PURE__ */ standard(wire.getTreeSchema)
/** The filter of a subscription. */
export const streamParams = /* @__PURE__ */ standard(wire.streamSchema)
/** An event of a thread on the wire. */
export const threadEvent = /* @__PURE__ */ standard(eventSchema)

/** The body of `POST /threads`. */
export const threadCreate = /* @__PURE__ */ standard(wire.threadCreateSchema)
/** The body of `PATCH /threads/{thread_id}`. */
export const threadPatch = /* @__PURE__ */ standard(wire.threadPatchSchema)
/** The body of `POST /threads/search`. */
export const threadSearch = /* @__PURE__ */ standard(wire.threadSearchSchema)
/** A thread in responses. */
export const thread = /* @__PURE__ */ standard(threads.thread)
/** The state of a thread in responses. */
export const threadState = /* @__PURE__ */ standard(threads.threadState)

/** The body of requests that create a run over the REST API. */
export const runCreate = /* @__PURE__ */ standard(runs.runCreateSchema)
/** A run in responses. */
export const run = /* @__PURE__ */ standard(platform.run)

/** The body of `POST /assistants`. */
export const assistantCreate = /* @__PURE__ */ standard(assistants.assistantCreateSchema)
/** The body of `PATCH /assistants/{assistant_id}`. */
export const assistantPatch = /* @__PURE__ */ standard(assistants.assistantPatchSchema)
/** The body of `POST /assistants/search`. */
export const assistantSearch = /* @__PURE__ */ standard(assistants.assistantSearchSchema)
/** An assistant in responses. */
export const assistant = /* @__PURE__ */ standard(platform.assistant)

/** The request that creates a cron, in addition to the fields of its runs. */
export const cronCreate = /* @__PURE__ */ standard(crons.cronSchema)
/** The body of `POST /runs/crons/search`. */
export const cronSearch = /* @__PURE__ */ standard(crons.cronSearchSchema)
/** A cron in responses. */
export const cron = /* @__PURE__ */ standard(platform.cron)

/** An item of the graph store. */
export const storeItem = /* @__PURE__ */ standard(platform.item)

/** The params of `run.start`, as parsed. */
export type RunStart = StandardSchemaV1.InferOutput<typeof runStart>
/** The filter of a subscription, as parsed. */
export type StreamParams = StandardSchemaV1.InferOutput<typeof streamParams>
/** A thread in responses. */
export type Thread = StandardSchemaV1.InferOutput<typeof thread>
/** A run in responses. */
export type Run = StandardSchemaV1.InferOutput<typeof run>
/** The body of requests that create a run, as parsed. */
export type RunCreate = StandardSchemaV1.InferOutput<typeof runCreate>
/** An assistant in responses. */
export type Assistant = StandardSchemaV1.InferOutput<typeof assistant>
/** A cron in responses. */
export type Cron = StandardSchemaV1.InferOutput<typeof cron>
/** An event of a thread on the wire. */
export type WireEvent = StandardSchemaV1.InferOutput<typeof threadEvent>
