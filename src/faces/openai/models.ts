import { json } from '../../core/http/index.ts'
import { withoutMetadataFilter } from '../../core/principal.ts'
import { type AssistantRecord, findAssistant, searchAssistants } from '../../engine/assistants/index.ts'
import { permit } from '../kit/access.ts'
import type { FaceCall } from '../kit/routes.ts'
import { modelOf } from './begin.ts'
import { noSuchModel } from './errors.ts'
import type { OpenAiContext } from './options.ts'

const MAX_MODELS = 1_000

/**
 * `GET /v1/models`: the assistants that take messages. System assistants are listed under their agents'
 * names.
 */
export async function listModels({ engine }: OpenAiContext, { principal }: FaceCall): Promise<Response> {
  const fits = ({ graphId }: AssistantRecord) => {
    const agent = engine.agents.get(graphId)
    return agent !== undefined && agent.takesMessages !== false
  }
  const { items } = await searchAssistants(engine, principal, { offset: 0, limit: MAX_MODELS, fits })
  return json({ object: 'list', data: items.map(modelFor) })
}

/** `GET /v1/models/{id}`. */
export async function getModel(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { engine, authorize } = context
  const name = call.params.model ?? ''
  const { graphId } = await modelOf(context, withoutMetadataFilter(call.principal), name)
  const { principal } = await permit(authorize, call, 'assistants:read', { assistantId: graphId })
  const assistant = await findAssistant(engine, principal, name)
  if (!assistant) throw noSuchModel(name)
  return json({ ...modelFor(assistant), id: name })
}

const modelFor = ({ assistantId, graphId, isSystem, name, createdAt }: AssistantRecord) => ({
  id: isSystem ? graphId : assistantId,
  object: 'model',
  created: Math.floor(createdAt / 1_000),
  owned_by: 'agentwire',
  name,
})
