import assert from 'node:assert/strict'
import { closeServers, origin } from '../kit/served.ts'

// #region schemes
import { createAgentServer, defineAgent, type SecuritySchemes } from 'agentwire'
import { serve } from 'agentwire/node'

const users = new Map([['Bearer ada-token', { id: 'ada' }]])

const authenticate = Object.assign(
  (request: Request) => users.get(request.headers.get('authorization') ?? '') ?? null,
  {
    schemes: {
      token: { type: 'http', scheme: 'bearer' },
      key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    },
  } satisfies { schemes: SecuritySchemes },
)

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const server = createAgentServer({ agents: { agent }, authenticate })
await serve(server, { port: 3000 })
// #endregion

const card = await (await fetch(`${await origin()}/.well-known/agent-card.json`)).json()
assert.deepEqual(Object.keys(card.securitySchemes), ['token', 'key'])
closeServers()
await server.close()
