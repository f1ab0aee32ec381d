import assert from 'node:assert/strict'
import { closeServers } from './kit/served.ts'

// #region cors
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const server = createAgentServer({
  agents: { agent },
  http: { cors: { origins: ['https://app.example.com'], headers: ['x-csrf-token'], credentials: true } },
})
await serve(server, { port: 3000 })
// #endregion

const preflight = await server.fetch(
  new Request('http://in.process/threads', {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-csrf-token',
    },
  }),
)
assert.equal(preflight.headers.get('access-control-allow-origin'), 'https://app.example.com')
assert.equal(preflight.headers.get('access-control-allow-credentials'), 'true')
closeServers()
await server.close()
