import * as z from 'zod/mini'
import { type FaceRow, route } from '../../kit/routes.ts'
import * as answers from '../answers.ts'
import type { PlatformContext } from '../context.ts'
import {
  count,
  deleteOne,
  getAssistant,
  getGraph,
  getSchemas,
  getSubgraphs,
  latest,
  namedAssistant,
  namedGraph,
  patchOne,
  postAssistant,
  search,
  versions,
} from './records.ts'
import {
  assistantCountSchema,
  assistantCreateSchema,
  assistantLatestSchema,
  assistantPatchSchema,
  assistantSearchSchema,
  assistantVersionsSchema,
} from './wire.ts'

const { assistant } = answers
const flag = { type: 'boolean' }
const integer = { type: 'integer', minimum: 0 }
const listOf = (items: object) => ({ type: 'array', items })

const subgraphs = {
  permission: 'assistants:read',
  resource: namedAssistant,
  summary: 'Get the schemas of the subgraphs of an assistant.',
  query: { recurse: flag },
  answers: { 200: z.record(z.string(), answers.graphSchemas) },
  run: getSubgraphs,
} as const

/** Assistants: graphs with their own config, context and metadata, in versions. */
export const ASSISTANT_ROUTES: readonly FaceRow<PlatformContext>[] = [
  route('POST', '/assistants', {
    permission: 'assistants:create',
    resource: namedGraph,
    summary: 'Create an assistant.',
    body: assistantCreateSchema,
    answers: { 200: assistant },
    run: postAssistant,
  }),
  route('POST', '/assistants/search', {
    permission: 'assistants:search',
    summary: 'Search assistants.',
    body: assistantSearchSchema,
    answers: { 200: listOf(z.partial(assistant)) },
    run: search,
  }),
  route('POST', '/assistants/count', {
    permission: 'assistants:search',
    summary: 'Count assistants.',
    body: assistantCountSchema,
    answers: { 200: integer },
    run: count,
  }),
  route('GET', '/assistants/:assistant_id', {
    permission: 'assistants:read',
    resource: namedAssistant,
    summary: 'Get an assistant.',
    answers: { 200: assistant },
    run: getAssistant,
  }),
  route('PATCH', '/assistants/:assistant_id', {
    permission: 'assistants:update',
    resource: namedAssistant,
    summary: 'Create a new version of an assistant.',
    body: assistantPatchSchema,
    answers: { 200: assistant },
    run: patchOne,
  }),
  route('DELETE', '/assistants/:assistant_id', {
    permission: 'assistants:delete',
    resource: namedAssistant,
    summary: 'Delete an assistant.',
    query: { delete_threads: flag },
    answers: { 200: listOf({ type: 'string' }) },
    run: deleteOne,
  }),
  route('GET', '/assistants/:assistant_id/graph', {
    permission: 'assistants:read',
    resource: namedAssistant,
    summary: 'Draw the graph of an assistant.',
    query: { xray: { anyOf: [flag, integer] } },
    answers: { 200: answers.drawing },
    run: getGraph,
  }),
  route('GET', '/assistants/:assistant_id/schemas', {
    permission: 'assistants:read',
    resource: namedAssistant,
    summary: 'Get the schemas of an assistant.',
    answers: { 200: z.extend(answers.graphSchemas, { graph_id: z.string() }) },
    run: getSchemas,
  }),
  route('GET', '/assistants/:assistant_id/subgraphs', subgraphs),
  route('GET', '/assistants/:assistant_id/subgraphs/:namespace', subgraphs),
  route('POST', '/assistants/:assistant_id/versions', {
    permission: 'assistants:read',
    resource: namedAssistant,
    summary: 'List the versions of an assistant.',
    body: assistantVersionsSchema,
    answers: { 200: listOf(answers.assistantVersion) },
    run: versions,
  }),
  route('POST', '/assistants/:assistant_id/latest', {
    permission: 'assistants:update',
    resource: namedAssistant,
    summary: 'Set the latest version of an assistant.',
    body: assistantLatestSchema,
    answers: { 200: assistant },
    run: latest,
  }),
]
