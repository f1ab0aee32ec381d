import * as z from 'zod/mini'
import type { RouteDescription, RouteDescriptions } from '../../core/http/index.ts'
import { inputOf, outputOf } from '../kit/json-schema.ts'
import * as answers from './answers.ts'
import * as wire from './wire.ts'

const text = { type: 'string' }
const flag = { type: 'boolean' }
const count = { type: 'integer', minimum: 0 }

const state = outputOf(answers.threadState)
const someOfState = outputOf(z.partial(answers.threadState))
const thread = outputOf(answers.thread)
const listOf = (items: object) => ({ type: 'array', items })

const stream: RouteDescription = {
  summary: 'Subscribe to the events of a thread.',
  body: inputOf(wire.streamSchema),
  answers: {},
  streams: true,
}
const readState: RouteDescription = {
  summary: 'Get the state of a thread.',
  query: { subgraphs: flag, select: text },
  answers: { 200: someOfState },
}
const search = {
  body: inputOf(wire.threadSearchSchema),
}

/** The descriptions of the protocol's routes for the OpenAPI document. */
export const DESCRIPTIONS: RouteDescriptions = {
  'POST /threads/:thread_id/commands': {
    summary: 'Send a command, such as run.start. Each method has its own params.',
    body: {
      ...inputOf(wire.commandSchema),
      oneOf: Object.entries({
        'run.start': wire.runStartSchema,
        'input.respond': wire.inputRespondSchema,
        'input.inject': wire.inputInjectSchema,
        'state.get': wire.stateGetSchema,
        'state.listCheckpoints': wire.listCheckpointsSchema,
        'state.fork': wire.stateForkSchema,
        'agent.getTree': wire.getTreeSchema,
      }).map(([method, schema]) => ({
        properties: { method: { const: method }, params: { anyOf: [inputOf(schema), { type: 'null' }] } },
      })),
    },
    answers: { 200: outputOf(answers.commandAnswer) },
  },
  'POST /threads/:thread_id/stream': stream,
  'POST /threads/:thread_id/stream/events': stream,
  'GET /threads/:thread_id/state': { ...readState, query: { ...readState.query, streamed: flag } },
  'GET /threads/:thread_id/state/:checkpoint_id': readState,
  'POST /threads/:thread_id/state': {
    summary: 'Write values into the state of a thread.',
    body: inputOf(wire.stateWriteSchema),
    answers: {
      200: outputOf(z.extend(answers.threadState, { configurable: answers.threadState.shape.checkpoint })),
    },
  },
  'PATCH /threads/:thread_id/state': {
    summary: 'Merge metadata into the newest checkpoint.',
    body: inputOf(wire.stateMetadataSchema),
    answers: { 204: null },
  },
  'POST /threads/:thread_id/state/checkpoint': {
    summary: 'Get the state at a checkpoint.',
    body: inputOf(wire.checkpointStateSchema),
    answers: { 200: someOfState },
  },
  'POST /threads/:thread_id/history': {
    summary: 'Get the states of a thread, newest first.',
    body: inputOf(wire.historySchema),
    answers: { 200: listOf(someOfState) },
  },
  'GET /threads/:thread_id/history': {
    summary: 'Get the states of a thread, newest first.',
    query: { limit: count, before: text },
    answers: { 200: listOf(state) },
  },
  'POST /threads/:thread_id/runs/:run_id/cancel': {
    summary: 'Cancel a run.',
    query: { wait: flag, action: { enum: ['interrupt', 'rollback'] } },
    answers: { 202: null, 204: null },
  },
  'GET /threads': {
    summary: 'List threads with their titles.',
    query: { limit: count, offset: count },
    answers: { 200: listOf(outputOf(answers.threadTitle)) },
  },
  'POST /threads': {
    summary: 'Create a thread.',
    body: inputOf(wire.threadCreateSchema),
    answers: { 200: thread },
  },
  'POST /threads/search': {
    summary: 'Search threads.',
    ...search,
    answers: {
      200: listOf(
        outputOf(z.partial(z.extend(answers.thread, { extracted: z.record(z.string(), z.unknown()) }))),
      ),
    },
  },
  'POST /threads/count': { summary: 'Count threads.', ...search, answers: { 200: count } },
  'POST /threads/prune': {
    summary: 'Delete threads, or shorten them to their newest state.',
    body: inputOf(wire.threadPruneSchema),
    answers: { 200: outputOf(z.object({ pruned_count: z.int() })) },
  },
  'POST /threads/:thread_id/copy': { summary: 'Copy a thread.', answers: { 200: thread } },
  'GET /threads/:thread_id': { summary: 'Get a thread.', answers: { 200: thread } },
  'PATCH /threads/:thread_id': {
    summary: 'Merge metadata into a thread.',
    body: inputOf(wire.threadPatchSchema),
    answers: { 200: thread, 204: null },
  },
  'DELETE /threads/:thread_id': { summary: 'Delete a thread.', answers: { 204: null } },
}
