import * as z from 'zod/mini'
import { HttpError, json } from '../../../core/http/index.ts'
import {
  type AssistantRecord,
  countAssistants,
  describeAssistant,
  listVersions,
  requireAssistant,
  setLatestVersion,
} from '../../../engine/assistants/index.ts'
import { containing } from '../../kit/lists.ts'
import { type FaceCall, type FaceRow, route } from '../../kit/routes.ts'
import * as answers from '../answers.ts'
import type { PlatformContext } from '../context.ts'
import {
  assistantIdOf,
  deleteOne,
  filterOf,
  namedAssistant,
  namedGraph,
  patchOne,
  postAssistant,
  search,
} from './records.ts'
import {
  assistantCountSchema,
  assistantCreateSchema,
  assistantLatestSchema,
  assistantPatchSchema,
  assistantSearchSchema,
  assistantVersionsSchema,
  presentAssistant,
  presentSchemas,
  presentVersion,
} from './wire.ts'

const count = { type: 'integer', minimum: 0 }
const flag = { type: 'boolean' }
const listOf = (items: object) => ({ type: 'array', items })

const { assistant } = answers

const describe = ({ engine }: PlatformContext, call: FaceCall) =>
  describeAssistant(engine, call.principal, assistantIdOf(call))

const isTrue = (text: string | null): boolean => text === 'true' || text === '1'

/** `true`, `false`, or the number of subgraph levels. */
function xrayOf(text: string | null): boolean | number {
  if (text === null || text === '' || text === 'false' || text === 'False') return false
  if (text === 'true' || text === 'True') return true
  const levels = Number(text)
  if (Number.isSafeInteger(levels) && levels >= 0) return levels
  throw new HttpError(400, 'invalid_argument', 'xray: expected true, false or a number of levels.')
}

const subgraphs = {
  permission: 'assistants:read',
  resource: namedAssistant,
  summary: 'Get the schemas of the subgraphs of an assistant.',
  query: { recurse: flag },
  answers: { 200: z.record(z.string(), answers.graphSchemas) },
  async run(context: PlatformContext, call: FaceCall) {
    const { description } = await describe(context, call)
    const recurse = isTrue(call.url.searchParams.get('recurse'))
    return json(await description.subgraphs({ namespace: call.params.namespace, recurse }))
  },
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
    answers: { 200: count },
    run: async ({ engine }: PlatformContext, { principal, body }) =>
      json(await countAssistants(engine, principal, filterOf(body))),
  }),
  route('GET', '/assistants/:assistant_id', {
    permission: 'assistants:read',
    resource: namedAssistant,
    summary: 'Get an assistant.',
    answers: { 200: assistant },
    run: async ({ engine }: PlatformContext, call) =>
      json(presentAssistant(await requireAssistant(engine, call.principal, assistantIdOf(call)))),
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
    query: { xray: { anyOf: [flag, count] } },
    answers: { 200: answers.drawing },
    async run(context: PlatformContext, call) {
      const xray = xrayOf(call.url.searchParams.get('xray'))
      const { description } = await describe(context, call)
      return json(await description.drawing({ xray }))
    },
  }),
  route('GET', '/assistants/:assistant_id/schemas', {
    permission: 'assistants:read',
    resource: namedAssistant,
    summary: 'Get the schemas of an assistant.',
    answers: { 200: z.extend(answers.graphSchemas, { graph_id: z.string() }) },
    async run(context: PlatformContext, call) {
      const { graphId, description } = await describe(context, call)
      return json({ graph_id: graphId, ...presentSchemas(await description.schemas()) })
    },
  }),
  route('GET', '/assistants/:assistant_id/subgraphs', subgraphs),
  route('GET', '/assistants/:assistant_id/subgraphs/:namespace', subgraphs),
  route('POST', '/assistants/:assistant_id/versions', {
    permission: 'assistants:read',
    resource: namedAssistant,
    summary: 'List the versions of an assistant.',
    body: assistantVersionsSchema,
    answers: { 200: listOf(answers.assistantVersion) },
    async run({ engine }: PlatformContext, call) {
      const { limit = 10, offset = 0, metadata } = call.body
      const hasMetadata = containing(metadata ?? {})
      const fits = (version: AssistantRecord) => hasMetadata(version.metadata)
      const found = await listVersions(engine, call.principal, assistantIdOf(call), { fits, limit, offset })
      return json(found.map(presentVersion))
    },
  }),
  route('POST', '/assistants/:assistant_id/latest', {
    permission: 'assistants:update',
    resource: namedAssistant,
    summary: 'Set the latest version of an assistant.',
    body: assistantLatestSchema,
    answers: { 200: assistant },
    async run({ engine }: PlatformContext, call) {
      const { version } = call.body
      const set = await setLatestVersion(engine, call.principal, assistantIdOf(call), version)
      return json(presentAssistant(set))
    },
  }),
]
