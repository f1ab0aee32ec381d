import assert from 'node:assert/strict'
import { closeServers } from '../kit/served.ts'

// #region operator
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const server = createAgentServer({
  agents: { agent },
  authenticate: (request) =>
    request.headers.get('authorization') === 'Bearer ada-token' ? { id: 'ada', role: 'operator' } : null,
  devtools: { isOperator: (principal) => principal?.role === 'operator' },
})
await serve(server, { port: 3000 })
// #endregion

const threads = (headers: Record<string, string> = {}) =>
  new Request('http://in.process/devtools/api/threads', { headers })
assert.equal((await server.fetch(threads())).status, 401)
assert.equal((await server.fetch(threads({ authorization: 'Bearer ada-token' }))).status, 200)
closeServers()
await server.close()
