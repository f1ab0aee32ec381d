import assert from 'node:assert/strict'
import { agents } from './kit/agents.ts'

// #region cors
import { createAgentServer } from 'agentwire'

const server = createAgentServer({
  agents,
  http: { cors: { origins: ['https://app.example.com'], headers: ['x-csrf-token'], credentials: true } },
})
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
await server.close()
