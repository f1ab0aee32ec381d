import type { RouteDescription, RouteDescriptions } from '../../core/http/index.ts'
import { inputOf } from '../kit/json-schema.ts'
import { CONNECT_INPUT, RUN_INPUT, STOP_INPUT } from './wire.ts'

const run: RouteDescription = {
  summary: 'Run an agent, and send the events of AG-UI.',
  body: inputOf(RUN_INPUT),
  answers: {},
  streams: true,
}

/** The routes of AG-UI, for the OpenAPI document. */
export const DESCRIPTIONS: RouteDescriptions = {
  'POST /ag-ui/:agent_id': run,
  'POST /ag-ui/agent/:agent_id/run': run,
  'POST /ag-ui/agent/:agent_id/connect': {
    summary: 'Send a thread as it is, then the events of the active answer.',
    body: inputOf(CONNECT_INPUT),
    answers: {},
    streams: true,
  },
  'POST /ag-ui/agent/:agent_id/stop/:thread_id': {
    summary: 'Stop the active answer.',
    body: inputOf(STOP_INPUT),
    answers: {
      200: {
        type: 'object',
        properties: { stopped: { type: 'boolean' }, message: { type: 'string' } },
        required: ['stopped'],
      },
    },
  },
  'GET /ag-ui/info': {
    summary: "Get the agents of the server, for CopilotKit's pages.",
    answers: {
      200: {
        type: 'object',
        properties: { version: { type: 'string' }, agents: { type: 'object' }, mode: { const: 'sse' } },
        required: ['version', 'agents', 'mode'],
      },
    },
  },
}
