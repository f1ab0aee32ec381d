import { tagged } from '../../api/operation.ts'
import { presentConnection } from '../../present/auth.ts'
import { ERROR } from '../../wire/common.ts'
import { CONNECTION, CONNECTIONS, CREATE_CONNECTION } from '../../wire/tokens.ts'
import { authOperation } from './service.ts'

const TAG = 'Agent Connections (v2)'

export const connectionOperations = /* @__PURE__ */ tagged(TAG, [
  authOperation(
    'GET /v2/auth/agents/{agent_id}/connections',
    'List Agent Connections',
    {
      description: "The caller's own.",
      responses: { 200: CONNECTIONS },
    },
    async (auth, caller, { params }) => {
      const connections = await auth.listConnections(caller, params.agent_id)
      return { body: { data: connections.map(presentConnection) } }
    },
  ),
  authOperation(
    'POST /v2/auth/agents/{agent_id}/connections',
    'Create Agent Connection',
    {
      description:
        "Lets an agent use one of the caller's own tokens. `authenticate` with this `agent_id` gives it.",
      body: CREATE_CONNECTION,
      responses: { 201: CONNECTION, 404: ERROR },
    },
    async (auth, caller, { params, body }) => {
      const connection = await auth.connect(caller, params.agent_id, body.oauth_token_id)
      return { body: presentConnection(connection), status: 201 }
    },
  ),
  authOperation(
    'DELETE /v2/auth/agents/{agent_id}/connections/{connection_id}',
    'Delete Agent Connection',
    {
      responses: { 204: null, 404: ERROR },
    },
    async (auth, caller, { params }) => {
      await auth.disconnect(caller, params.agent_id, params.connection_id)
      return {}
    },
  ),
])
