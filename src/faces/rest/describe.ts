import * as z from 'zod/mini'
import type { RouteDescription, RouteDescriptions } from '../../core/http/index.ts'
import { inputOf, outputOf } from '../kit/json-schema.ts'
import * as answers from './answers.ts'
import * as assistants from './assistants/wire.ts'
import * as crons from './crons/wire.ts'
import * as runs from './runs/wire.ts'
import * as store from './store/wire.ts'

const text = { type: 'string' }
const flag = { type: 'boolean' }
const count = { type: 'integer', minimum: 0 }
const listOf = (items: object) => ({ type: 'array', items })

const run = outputOf(answers.run)
const assistant = outputOf(answers.assistant)
const cron = outputOf(answers.cron)
const item = outputOf(answers.item)
const modes = { stream_mode: inputOf(runs.modesSchema), cancel_on_disconnect: flag }

const createRun = { body: inputOf(runs.runCreateSchema) }
const postRun: RouteDescription = { summary: 'Start a run.', ...createRun, answers: { 200: run } }
const postWait: RouteDescription = {
  summary: 'Start a run, and answer with the values that it ends with.',
  ...createRun,
  answers: { 200: {} },
}
const postStream: RouteDescription = {
  summary: 'Start a run, and stream it.',
  ...createRun,
  answers: {},
  streams: true,
}
const getRun: RouteDescription = { summary: 'Get a run.', answers: { 200: run } }
const deleteRun: RouteDescription = { summary: 'Delete a run.', answers: { 204: null } }
const joinRun: RouteDescription = {
  summary: 'Wait for a run, and answer with the values that it ends with.',
  query: { cancel_on_disconnect: flag },
  answers: { 200: {} },
}
const streamRun: RouteDescription = {
  summary: 'Stream a run.',
  query: modes,
  answers: {},
  streams: true,
}
const subgraphs: RouteDescription = {
  summary: 'Get the schemas of the subgraphs of an assistant.',
  query: { recurse: flag },
  answers: { 200: outputOf(z.record(z.string(), answers.graphSchemas)) },
}
const postCron: RouteDescription = {
  summary: 'Create a cron: a run that is started by a schedule. The other fields are those of a run.',
  body: inputOf(crons.cronSchema),
  answers: { 200: cron },
}

/** The platform's routes for the OpenAPI document. */
export const DESCRIPTIONS: RouteDescriptions = {
  'GET /ok': {
    summary: 'Check that the server is up.',
    query: { check_db: text },
    answers: { 200: outputOf(z.object({ ok: z.literal(true) })) },
  },
  'GET /info': {
    summary: 'Get the versions and features of the server.',
    answers: { 200: outputOf(answers.info) },
  },
  'POST /assistants': {
    summary: 'Create an assistant.',
    body: inputOf(assistants.assistantCreateSchema),
    answers: { 200: assistant },
  },
  'POST /assistants/search': {
    summary: 'Search assistants.',
    body: inputOf(assistants.assistantSearchSchema),
    answers: { 200: listOf(outputOf(z.partial(answers.assistant))) },
  },
  'POST /assistants/count': {
    summary: 'Count assistants.',
    body: inputOf(assistants.assistantCountSchema),
    answers: { 200: count },
  },
  'GET /assistants/:assistant_id': { summary: 'Get an assistant.', answers: { 200: assistant } },
  'PATCH /assistants/:assistant_id': {
    summary: 'Create a new version of an assistant.',
    body: inputOf(assistants.assistantPatchSchema),
    answers: { 200: assistant },
  },
  'DELETE /assistants/:assistant_id': {
    summary: 'Delete an assistant.',
    query: { delete_threads: flag },
    answers: { 200: listOf(text) },
  },
  'GET /assistants/:assistant_id/graph': {
    summary: 'Draw the graph of an assistant.',
    query: { xray: { anyOf: [flag, count] } },
    answers: { 200: outputOf(answers.drawing) },
  },
  'GET /assistants/:assistant_id/schemas': {
    summary: 'Get the schemas of an assistant.',
    answers: { 200: outputOf(z.extend(answers.graphSchemas, { graph_id: z.string() })) },
  },
  'GET /assistants/:assistant_id/subgraphs': subgraphs,
  'GET /assistants/:assistant_id/subgraphs/:namespace': subgraphs,
  'POST /assistants/:assistant_id/versions': {
    summary: 'List the versions of an assistant.',
    body: inputOf(assistants.assistantVersionsSchema),
    answers: { 200: listOf(outputOf(answers.assistantVersion)) },
  },
  'POST /assistants/:assistant_id/latest': {
    summary: 'Set the latest version of an assistant.',
    body: inputOf(assistants.assistantLatestSchema),
    answers: { 200: assistant },
  },
  'POST /threads/:thread_id/runs': postRun,
  'POST /threads/:thread_id/runs/wait': postWait,
  'POST /threads/:thread_id/runs/stream': postStream,
  'GET /threads/:thread_id/runs': {
    summary: 'List the runs of a thread.',
    query: { limit: count, offset: count, status: inputOf(runs.statusSchema), metadata: text, select: text },
    answers: { 200: listOf(outputOf(z.partial(answers.run))) },
  },
  'GET /threads/:thread_id/runs/:run_id': getRun,
  'DELETE /threads/:thread_id/runs/:run_id': deleteRun,
  'GET /threads/:thread_id/runs/:run_id/join': joinRun,
  'GET /threads/:thread_id/runs/:run_id/stream': streamRun,
  'POST /runs': postRun,
  'POST /runs/wait': postWait,
  'POST /runs/stream': postStream,
  'POST /runs/batch': {
    summary: 'Start runs with threads of their own.',
    body: inputOf(runs.batchSchema),
    answers: { 200: listOf(run) },
  },
  'POST /runs/cancel': {
    summary: 'Cancel runs.',
    query: { action: { enum: ['interrupt', 'rollback'] } },
    body: inputOf(runs.cancelManySchema),
    answers: { 204: null },
  },
  'GET /runs/:run_id': getRun,
  'DELETE /runs/:run_id': deleteRun,
  'GET /runs/:run_id/join': joinRun,
  'GET /runs/:run_id/stream': streamRun,
  'POST /runs/:run_id/cancel': {
    summary: 'Cancel a run.',
    query: { wait: flag, action: { enum: ['interrupt', 'rollback'] } },
    answers: { 202: null, 204: null },
  },
  'POST /runs/crons': postCron,
  'POST /threads/:thread_id/runs/crons': postCron,
  'PATCH /runs/crons/:cron_id': {
    summary: 'Update a cron.',
    body: inputOf(crons.cronSchema),
    answers: { 200: cron },
  },
  'DELETE /runs/crons/:cron_id': { summary: 'Delete a cron.', answers: { 204: null } },
  'POST /runs/crons/search': {
    summary: 'Search crons.',
    body: inputOf(crons.cronSearchSchema),
    answers: {
      200: listOf(outputOf(z.partial(z.extend(answers.cron, { now: z.iso.datetime() })))),
    },
  },
  'POST /runs/crons/count': {
    summary: 'Count crons.',
    body: inputOf(crons.cronSearchSchema),
    answers: { 200: count },
  },
  'GET /threads/:thread_id/stream': {
    summary: 'Stream what happens on a thread, run after run.',
    query: { stream_mode: { type: 'array', items: { enum: ['run_modes', 'lifecycle'] } } },
    answers: {},
    streams: true,
  },
  'PUT /store/items': {
    summary: 'Put an item into the store for graphs.',
    body: inputOf(store.putSchema),
    answers: { 204: null },
  },
  'GET /store/items': {
    summary: 'Get an item of the store.',
    query: { namespace: text, key: text, refresh_ttl: flag },
    answers: { 200: { anyOf: [item, { type: 'null' }] } },
  },
  'DELETE /store/items': {
    summary: 'Delete an item of the store.',
    body: inputOf(store.itemSchema),
    answers: { 204: null },
  },
  'POST /store/items/search': {
    summary: 'Search items of the store.',
    body: inputOf(store.searchSchema),
    answers: { 200: { type: 'object', properties: { items: listOf(item) }, required: ['items'] } },
  },
  'POST /store/namespaces': {
    summary: 'List namespaces of the store.',
    body: inputOf(store.namespacesSchema),
    answers: {
      200: { type: 'object', properties: { namespaces: listOf(listOf(text)) }, required: ['namespaces'] },
    },
  },
}
