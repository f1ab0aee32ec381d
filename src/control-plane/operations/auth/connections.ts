import { operation } from '../../api/operation.ts'
import { presentConnection } from '../../present/auth.ts'
import { ERROR } from '../../wire/common.ts'
import { CONNECTION, CONNECTIONS, CREATE_CONNECTION } from '../../wire/tokens.ts'
import { authOf, callerOf } from './service.ts'

const TAG = 'Agent Connections (v2)'

export const listConnections = /* @__PURE__ */ operation(
  {
    method: 'GET',
    path: '/v2/auth/agents/{agent_id}/connections',
    tag: TAG,
    summary: 'List Agent Connections',
    description: "The caller's own.",
    responses: { 200: CONNECTIONS },
  },
  async (context, { call, params }) => {
    const connections = await authOf(context).listConnections(callerOf(call.principal), params.agent_id)
    return { body: { data: connections.map(presentConnection) } }
  },
)

export const createConnection = /* @__PURE__ */ operation(
  {
    method: 'POST',
    path: '/v2/auth/agents/{agent_id}/connections',
    tag: TAG,
    summary: 'Create Agent Connection',
    description:
      "Lets an agent use one of the caller's own tokens. `authenticate` with this `agent_id` gives it.",
    body: CREATE_CONNECTION,
    responses: { 201: CONNECTION, 404: ERROR },
  },
  async (context, { call, params, body }) => {
    const auth = authOf(context)
    const connection = await auth.connect(callerOf(call.principal), params.agent_id, body.oauth_token_id)
    return { body: presentConnection(connection), status: 201 }
  },
)

export const deleteConnection = /* @__PURE__ */ operation(
  {
    method: 'DELETE',
    path: '/v2/auth/agents/{agent_id}/connections/{connection_id}',
    tag: TAG,
    summary: 'Delete Agent Connection',
    responses: { 204: null, 404: ERROR },
  },
  async (context, { call, params }) => {
    await authOf(context).disconnect(callerOf(call.principal), params.agent_id, params.connection_id)
    return {}
  },
)
