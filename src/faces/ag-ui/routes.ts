import { type FaceRow, type RouteFields, route } from '../kit/routes.ts'
import { connect, info, run, stop } from './endpoints.ts'
import type { AgUiContext } from './options.ts'
import { CONNECT_INPUT, RUN_INPUT, type RunInput, STOP_INPUT } from './wire.ts'

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
