import { json } from '../../core/http/index.ts'
import { VERSION } from '../../core/version.ts'
import { internalsOf } from '../../engine/index.ts'
import type { FaceCall } from '../kit/routes.ts'
import { begin } from './begin.ts'
import { permitted } from './call.ts'
import { capabilitiesOf } from './capabilities.ts'
import { clientRunId, followRun, followThread } from './follow.ts'
import type { AgUiContext } from './options.ts'
import { eventStream } from './stream.ts'
import type { ConnectInput, RunInput, StopInput } from './wire.ts'

/** `POST /ag-ui/{agent_id}`, and CopilotKit's `POST /ag-ui/agent/{agent_id}/run`. */
export async function run(context: AgUiContext, given: FaceCall<RunInput>): Promise<Response> {
  const input = given.body
  const { threadId } = input
  const call = await permitted(context, given, 'runs:create', threadId)
  const { engine } = context
  const { principal } = call.call
  const client = { ...input, toolNames: (input.tools ?? []).map(({ name }) => name) }
  const response = await eventStream(call, async (signal) => {
    const begun = await begin(call, input, signal)
    if (begun) return followRun(call, client, begun)
    const snapshot = await engine.snapshot({ threadId, principal })
    return snapshot && followThread(call, client, snapshot, signal)
  })
  const work = internalsOf(engine).working(threadId)
  if (work) given.waitUntil(work)
  return response
}

/**
 * `POST /ag-ui/agent/{agent_id}/connect`: the thread's messages and state, then its active answer. Sends no
 * event for an unknown thread.
 */
export async function connect(context: AgUiContext, given: FaceCall<ConnectInput>): Promise<Response> {
  const input = given.body
  const { threadId } = input
  const call = await permitted(context, given, 'threads:stream', threadId)
  const { principal } = call.call
  const client = { ...input, toolNames: (input.tools ?? []).map(({ name }) => name) }
  return eventStream(call, async (signal) => {
    const snapshot = await context.engine.snapshot({ threadId, principal })
    const isOfAgent = snapshot?.thread.assistantId === call.assistantId
    return isOfAgent ? followThread(call, client, snapshot, signal) : undefined
  })
}

/**
 * `POST /ag-ui/agent/{agent_id}/stop/{thread_id}`: stops the active answer, or the one of the run that the
 * page names.
 */
export async function stop(context: AgUiContext, given: FaceCall<StopInput>): Promise<Response> {
  const { runId } = given.body
  const { threadId } = given
  const call = await permitted(context, given, 'runs:cancel', threadId)
  const { engine } = context
  const { principal } = call.call
  const { record } = (await engine.findAnswer({ threadId, principal })) ?? {}
  // A question can only be answered, not stopped.
  if (!record || record.state === 'input-required') return json({ stopped: false })
  const current = record.openRunIds[0]
  const isOther =
    runId !== undefined && current !== undefined && (await clientRunId(call, threadId, current)) !== runId
  if (isOther) return json({ stopped: false, message: 'Another run goes on.' })
  await engine.cancel({ threadId, principal, answerId: record.taskId })
  return json({ stopped: true })
}

/** `GET /ag-ui/info`: the agents, for CopilotKit pages. */
export async function info({ engine }: AgUiContext): Promise<Response> {
  const agents = [...engine.agents].map(([id, agent]) => [
    id,
    {
      name: agent.name ?? id,
      className: 'HttpAgent',
      description: agent.description ?? '',
      capabilities: capabilitiesOf(agent),
    },
  ])
  return json({
    version: VERSION,
    agents: Object.fromEntries(agents),
    audioFileTranscriptionEnabled: false,
    mode: 'sse',
    a2uiEnabled: false,
  })
}
