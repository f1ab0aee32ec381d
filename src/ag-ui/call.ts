import type { Agent } from '../agents/agent.ts'
import { permit, type ThreadAction } from '../face/access.ts'
import { type NamedAssistant, namedAssistant, reachesAssistant } from '../face/assistants.ts'
import { threadIdOf } from '../face/ids.ts'
import type { FaceCall } from '../face/routes.ts'
import { HttpError } from '../http/index.ts'
import { unbounded } from '../principal.ts'
import type { AgUiContext } from './context.ts'

/** A call of an agent about a thread, as its caller may do it. */
export interface AgUiCall {
  readonly context: AgUiContext
  readonly call: FaceCall
  readonly agent: Agent
  readonly assistantId: string
  /** Whose settings a run takes. */
  readonly assistant: NamedAssistant['assistant']
  /** What the metadata of a new thread and a run are to be, where the permission says so. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

/** The agent that the path names. Throws 404 for one that is not there, or not for this caller, and 403. */
export async function permitted(
  context: AgUiContext,
  call: FaceCall,
  action: ThreadAction,
  threadId: string,
): Promise<AgUiCall> {
  const { engine } = context
  const named = await namedAssistant(engine, unbounded(call.principal), call.params.agent_id)
  const assistantId = named.graphId ?? ''
  const agent = engine.agents.get(assistantId)
  if (!agent) throw noSuchAgent(call)
  const resource = { threadId: threadIdOf(threadId), assistantId }
  const { principal, body } = await permit(context.authorize, call, action, resource, call.json)
  if (!reachesAssistant(principal, named)) throw noSuchAgent(call)
  const { metadata } = (body ?? {}) as Pick<AgUiCall, 'metadata'>
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
