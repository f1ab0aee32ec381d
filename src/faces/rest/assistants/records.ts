import { type Call, HttpError, json } from '../../../core/http/index.ts'
import {
  type AssistantFields,
  type AssistantRecord,
  createAssistant,
  deleteAssistant,
  findAssistant,
  graphNamed,
  type NewAssistant,
  patchAssistant,
  requireAssistant,
  resourceNamed,
  searchAssistants,
} from '../../../engine/assistants/index.ts'
import { permit, type ThreadResource } from '../../kit/access.ts'
import { bodyOf } from '../../kit/body.ts'
import { containing, pageHeaders, withFields } from '../../kit/lists.ts'
import type { Read } from '../../kit/parse.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import {
  type assistantCountSchema,
  assistantCreateSchema,
  assistantPatchSchema,
  type assistantSearchSchema,
  ORDERS,
  presentAssistant,
} from './wire.ts'

/** The id or name in the path. */
export const assistantIdOf = ({ params }: Pick<Call, 'params'>): string => params.assistant_id ?? ''

/** The resource for `authorize`. */
export const namedAssistant = async ({ engine }: PlatformContext, call: Call): Promise<ThreadResource> => ({
  assistantId: await resourceNamed(engine, assistantIdOf(call)),
})

/** The same for `POST /assistants`: the graph of the new one. */
export async function namedGraph({ engine }: PlatformContext, call: Call): Promise<ThreadResource> {
  const { graph_id } = await bodyOf(assistantCreateSchema, call)
  return { assistantId: graphNamed(engine, graph_id) ?? graph_id }
}

/** `POST /assistants`. */
export async function postAssistant(
  { engine }: PlatformContext,
  call: FaceCall<Read<typeof assistantCreateSchema>>,
): Promise<Response> {
  const body = call.body
  const { assistant_id: assistantId, graph_id: graphId, if_exists, ...fields } = body
  const { principal } = call
  const made = await createAssistant(engine, principal, { ...fields, assistantId, graphId } as NewAssistant)
  const assistant =
    made ??
    (if_exists === 'do_nothing' ? await findAssistant(engine, principal, assistantId ?? '') : undefined)
  if (!assistant) throw new HttpError(409, 'conflict', 'Assistant already exists')
  return json(presentAssistant(assistant))
}

/** `PATCH /assistants/{assistant_id}`: creates a new version. */
export async function patchOne(
  context: PlatformContext,
  call: FaceCall<Read<typeof assistantPatchSchema>>,
): Promise<Response> {
  const { engine, authorize } = context
  const { graph_id: graphId } = call.body
  const resource = { assistantId: graphId && (graphNamed(engine, graphId) ?? graphId) }
  const permitted = graphId ? await permit(authorize, call, 'assistants:update', resource, call.json) : call
  const { graph_id: _, ...fields } = await bodyOf(assistantPatchSchema, permitted)
  const patch = { ...fields, graphId } as Partial<AssistantFields>
  return json(presentAssistant(await patchAssistant(engine, call.principal, assistantIdOf(call), patch)))
}

/**
 * `DELETE /assistants/{assistant_id}?delete_threads`. With `true`, also deletes the threads whose last run
 * used it.
 */
export async function deleteOne(context: PlatformContext, call: FaceCall): Promise<Response> {
  const { engine } = context
  const { principal, url } = call
  const { assistantId, isSystem } = await requireAssistant(engine, principal, assistantIdOf(call))
  // Reject a system assistant before any thread is deleted.
  if (url.searchParams.get('delete_threads') === 'true' && !isSystem)
    await deleteThreads(context, call, assistantId)
  return json([await deleteAssistant(engine, principal, assistantId)])
}

async function deleteThreads({ engine, authorize }: PlatformContext, call: FaceCall, assistantId: string) {
  const { principal } = call
  const ids: string[] = []
  const where = { assistant_id: assistantId }
  for await (const { threadId } of engine.listThreads({ principal, where })) ids.push(threadId)
  const permitted = await Promise.all(
    ids.map(async (threadId) => ({
      threadId,
      principal: (await permit(authorize, call, 'threads:delete', { threadId })).principal,
    })),
  )
  for (const thread of permitted) await engine.deleteThread(thread)
}

/** `POST /assistants/search`. */
export async function search(
  { engine }: PlatformContext,
  call: FaceCall<Read<typeof assistantSearchSchema>>,
): Promise<Response> {
  const query = call.body
  const { limit = 10, offset = 0, sort_by = 'created_at', sort_order, select } = query
  const { items, total } = await searchAssistants(engine, call.principal, {
    ...filterOf(query),
    orderBy: ORDERS[sort_by],
    ascending: sort_order === 'asc',
    limit,
    offset,
  })
  const page = items.map((assistant) => withFields(presentAssistant(assistant), select))
  return json(page, { headers: pageHeaders(total, offset + limit) })
}

/** Undefined if the request filters by graph only, because the store has an index for that. */
export function filterOf({ graph_id: graphId, name, metadata }: Read<typeof assistantCountSchema>) {
  const part = name?.toLowerCase() ?? ''
  if (part === '' && Object.keys(metadata ?? {}).length === 0) return { graphId }
  const hasMetadata = containing(metadata ?? {})
  const fits = (assistant: AssistantRecord) =>
    assistant.name.toLowerCase().includes(part) && hasMetadata(assistant.metadata)
  return { graphId, fits }
}
