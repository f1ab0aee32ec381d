import type { Agent } from '../../agents/agent.ts'
import { HttpError } from '../../core/http/index.ts'
import { withoutMetadataFilter } from '../../core/principal.ts'
import { permit, type ThreadAction } from '../kit/access.ts'
import { type NamedAssistant, namedAssistant, reachesAssistant } from '../kit/assistants.ts'
import { threadIdOf } from '../kit/ids.ts'
import type { FaceCall } from '../kit/routes.ts'
import type { AgUiContext } from './options.ts'

/** A permitted call to an agent about a thread. */
export interface AgUiCall {
  readonly context: AgUiContext
  readonly call: FaceCall
  readonly agent: Agent
  readonly assistantId: string
  /** The assistant whose settings the run uses. */
  readonly assistant: NamedAssistant['assistant']
  /** The metadata that `authorize` sets on a new thread and a run. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

/** The agent that the path names. Throws 404 if it does not exist or the caller has no access, and 403. */
export async function permitted(
  context: AgUiContext,
  call: FaceCall,
  action: ThreadAction,
  threadId: string,
): Promise<AgUiCall> {
  const { engine } = context
  const named = await namedAssistant(engine, withoutMetadataFilter(call.principal), call.params.agent_id)
  const assistantId = named.graphId ?? ''
  const agent = engine.agents.get(assistantId)
  if (!agent) throw noSuchAgent(call)
  const resource = { threadId: threadIdOf(threadId), assistantId }
  const { principal, fields } = await permit(context.authorize, call, action, resource, call.json)
  if (!reachesAssistant(principal, named)) throw noSuchAgent(call)
  const { metadata } = (fields ?? {}) as Pick<AgUiCall, 'metadata'>
  return {
    context,
    call: { ...call, threadId, principal },
    agent,
    assistantId,
    assistant: named.assistant,
    metadata,
  }
}

const noSuchAgent = ({ params }: FaceCall): HttpError =>
  new HttpError(404, 'not_found', `There is no agent ${JSON.stringify(params.agent_id)}.`)
