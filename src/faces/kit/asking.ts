import type { Call } from '../../core/http/index.ts'
import type { AgentEngine, PermitRun, RunRequest } from '../../engine/index.ts'
import { type Authorize, permit, type ReadSent, type ThreadResource } from './access.ts'
import { threadMetadata } from './thread-metadata.ts'

/** An answer of `authorize` to a route that starts a run. */
interface Asked {
  readonly resource: ThreadResource
  readonly sent: ReadSent
  readonly answer: ReturnType<Authorize>
}

interface Asking {
  readonly engine: AgentEngine
  readonly authorize: Authorize | undefined
}

/**
 * The context for one call. Its engine asks `authorize` about the agent and the assistant that really run,
 * whatever the request named, so that no route can start or answer a run without it. What the route has
 * asked in this call is not asked again.
 */
export function asking<Context extends Asking>(
  context: Context,
  call: Pick<Call, 'principal' | 'json'>,
): Context {
  const { engine, authorize } = context
  if (!authorize) return context
  const asked: Asked[] = []
  const remembering: Authorize = (principal, action, resource, sent) => {
    const answer = authorize(principal, action, resource, sent)
    if (action === 'runs:create') asked.push({ resource, sent, answer })
    return answer
  }
  const permitRun: PermitRun = async ({ threadId, assistantId, isNewThread }) => {
    const isSame = ({ resource }: Asked): boolean =>
      resource.assistantId === assistantId &&
      (resource.threadId === threadId || (isNewThread && resource.threadId === undefined))
    const known = asked.find(isSame)
    const sent = asked.at(-1)?.sent ?? call.json
    const permitted = await permit(
      known ? () => known.answer : remembering,
      call,
      'runs:create',
      { threadId, assistantId },
      sent,
    )
    const { metadata } = (permitted.fields ?? {}) as Pick<RunRequest, 'metadata'>
    return { principal: permitted.principal, metadata: metadata && threadMetadata(engine, metadata) }
  }
  return { ...context, authorize: remembering, engine: withPermit(engine, permitRun) }
}

/** The engine with a permission check in every request that starts a run. */
function withPermit(engine: AgentEngine, permitRun: PermitRun): AgentEngine {
  const checked = { permit: permitRun }
  const follow = (request: Parameters<AgentEngine['follow']>[0] & Starts) =>
    engine.follow({
      ...request,
      ...(request.start && { start: { ...request.start, ...checked } }),
      ...(request.respond && { respond: { ...request.respond, ...checked } }),
    } as Parameters<AgentEngine['follow']>[0])
  const start: AgentEngine['start'] = (request) => engine.start({ ...request, ...checked })
  const respond: AgentEngine['respond'] = (request) => engine.respond({ ...request, ...checked })
  // A host's own view of an engine may have the methods from its prototype, which a copy would lose.
  return Object.assign(Object.create(engine) as AgentEngine, { start, respond, follow })
}

interface Starts {
  readonly start?: object | undefined
  readonly respond?: object | undefined
}
