import type { Agent } from '../../agents/agent.ts'
import { AgentwireError } from '../../core/errors.ts'
import { json, sourceOf, sseResponse } from '../../core/http/index.ts'
import { VERSION } from '../../core/version.ts'
import { keepRunning } from '../kit/answer-row.ts'
import { reporterOf } from '../kit/errors.ts'
import { type FaceCall, type FaceRow, type RouteFields, route } from '../kit/routes.ts'
import { begin } from './begin.ts'
import { type AgUiCall, permitted } from './call.ts'
import { clientRunId, followRun, followThread } from './follow.ts'
import type { AgUiContext } from './options.ts'
import type { AgUiEvent } from './state.ts'
import {
  CONNECT_INPUT,
  type ConnectInput,
  RUN_INPUT,
  type RunInput,
  STOP_INPUT,
  type StopInput,
} from './wire.ts'

/** `POST /ag-ui/{agent_id}`, and CopilotKit's `POST /ag-ui/agent/{agent_id}/run`. */
async function run(context: AgUiContext, given: FaceCall<RunInput>): Promise<Response> {
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
  keepRunning(context, given, threadId)
  return response
}

/**
 * `POST /ag-ui/agent/{agent_id}/connect`: the thread's messages and state, then its active answer. Sends no
 * event for an unknown thread.
 */
async function connect(context: AgUiContext, given: FaceCall<ConnectInput>): Promise<Response> {
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
async function stop(context: AgUiContext, given: FaceCall<StopInput>): Promise<Response> {
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
async function info({ engine }: AgUiContext): Promise<Response> {
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

const runAgent: RouteFields<AgUiContext, RunInput> = {
  // The thread is in the body.
  permission: null,
  summary: 'Run an agent, and send the events of AG-UI.',
  body: RUN_INPUT,
  streams: true,
  run,
}

export const ROUTES: readonly FaceRow<AgUiContext>[] = [
  route('POST', '/ag-ui/:agent_id', runAgent),
  route('GET', '/ag-ui/info', {
    permission: 'assistants:search',
    summary: "Get the agents of the server, for CopilotKit's pages.",
    answers: {
      200: {
        type: 'object',
        properties: { version: { type: 'string' }, agents: { type: 'object' }, mode: { const: 'sse' } },
        required: ['version', 'agents', 'mode'],
      },
    },
    run: info,
  }),
  route('POST', '/ag-ui/agent/:agent_id/run', runAgent),
  route('POST', '/ag-ui/agent/:agent_id/connect', {
    permission: null,
    summary: 'Send a thread as it is, then the events of the active answer.',
    body: CONNECT_INPUT,
    streams: true,
    run: connect,
  }),
  route('POST', '/ag-ui/agent/:agent_id/stop/:thread_id', {
    permission: null,
    summary: 'Stop the active answer.',
    body: STOP_INPUT,
    answers: {
      200: {
        type: 'object',
        properties: { stopped: { type: 'boolean' }, message: { type: 'string' } },
        required: ['stopped'],
      },
    },
    run: stop,
  }),
]

/**
 * The capabilities of a server's agent in AG-UI's format. Source: `AgentCapabilities` of `@ag-ui/core` 1.0.0.
 */
const capabilitiesOf = ({ name, description }: Agent): object => ({
  identity: { ...(name !== undefined && { name }), ...(description !== undefined && { description }) },
  transport: {
    streaming: true,
    websocket: false,
    httpBinary: false,
    pushNotifications: false,
    resumable: true,
  },
  tools: { supported: true, clientProvided: true },
  state: { snapshots: true, deltas: true, persistentState: true },
  multiAgent: { supported: true, subagents: [] },
  humanInTheLoop: { supported: true, approvals: true, interrupts: true, approveWithEdits: true },
})

/** The maximum size of a chunk of frames, in characters, not counting its last frame. */
const CHUNK_LENGTH = 65_536

type Batches = AsyncIterable<readonly AgUiEvent[]>

/**
 * Events as server-sent events, pulled at the client's pace. Rejects if the stream cannot start. A later
 * failure becomes the last event, because clients treat a body that ends without one as a finished run.
 */
async function eventStream(
  { context, call }: AgUiCall,
  open: (signal: AbortSignal) => Promise<Batches | undefined>,
): Promise<Response> {
  const { signal } = call
  const report = reporterOf(context, call)
  const source = sourceOf((left) => frames(open, left, report), signal)
  await source.ready()
  return sseResponse(source, { signal, onError: report })
}

async function* frames(
  open: (signal: AbortSignal) => Promise<Batches | undefined>,
  left: AbortSignal,
  report: (error: unknown) => void,
): AsyncGenerator<string, void, undefined> {
  const batches = await open(left)
  yield ''
  if (!batches) return
  try {
    for await (const events of batches) {
      let text = ''
      for (const event of events) {
        text += frameOf(event)
        if (text.length < CHUNK_LENGTH) continue
        yield text
        text = ''
      }
      yield text
    }
  } catch (error) {
    if (left.aborted) throw error
    report(error)
    yield frameOf(failure(error))
  }
}

const frameOf = (event: AgUiEvent): string => `data: ${JSON.stringify(event)}\n\n`

const failure = (error: unknown): AgUiEvent => {
  const isTold = error instanceof AgentwireError
  return {
    type: 'RUN_ERROR',
    message: isTold ? error.message : 'The server has failed.',
    code: isTold ? error.code : 'internal_error',
  }
}
