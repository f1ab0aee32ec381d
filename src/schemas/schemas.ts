import type { StandardSchemaV1 } from '@standard-schema/spec'
import { CONTEXT, type Read, type Schema } from '../face/parse.ts'
import * as platform from '../platform/answers.ts'
import * as assistants from '../platform/assistants/wire.ts'
import * as crons from '../platform/crons/wire.ts'
import * as runs from '../platform/runs/wire.ts'
import * as threads from '../threads/answers.ts'
import * as wire from '../threads/wire.ts'
import { eventSchema } from './events.ts'

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

export const threadCreate = /* @__PURE__ */ standard(wire.threadCreateSchema)
export const threadPatch = /* @__PURE__ */ standard(wire.threadPatchSchema)
export const threadSearch = /* @__PURE__ */ standard(wire.threadSearchSchema)
export const thread = /* @__PURE__ */ standard(threads.thread)
export const threadState = /* @__PURE__ */ standard(threads.threadState)

export const runCreate = /* @__PURE__ */ standard(runs.runCreateSchema)
export const run = /* @__PURE__ */ standard(platform.run)

export const assistantCreate = /* @__PURE__ */ standard(assistants.assistantCreateSchema)
export const assistantPatch = /* @__PURE__ */ standard(assistants.assistantPatchSchema)
export const assistantSearch = /* @__PURE__ */ standard(assistants.assistantSearchSchema)
export const assistant = /* @__PURE__ */ standard(platform.assistant)

/** The request that creates a cron, in addition to the fields of its runs. */
export const cronCreate = /* @__PURE__ */ standard(crons.cronSchema)
export const cronSearch = /* @__PURE__ */ standard(crons.cronSearchSchema)
export const cron = /* @__PURE__ */ standard(platform.cron)

/** An item of the graph store. */
export const storeItem = /* @__PURE__ */ standard(platform.item)

export type RunStart = StandardSchemaV1.InferOutput<typeof runStart>
export type StreamParams = StandardSchemaV1.InferOutput<typeof streamParams>
export type Thread = StandardSchemaV1.InferOutput<typeof thread>
export type Run = StandardSchemaV1.InferOutput<typeof run>
export type RunCreate = StandardSchemaV1.InferOutput<typeof runCreate>
export type Assistant = StandardSchemaV1.InferOutput<typeof assistant>
export type Cron = StandardSchemaV1.InferOutput<typeof cron>
export type WireEvent = StandardSchemaV1.InferOutput<typeof threadEvent>
