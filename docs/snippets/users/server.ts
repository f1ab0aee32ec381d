// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

// Look your sessions up here instead: in a database, or by verifying a token.
const sessions = new Map([
  ['ada-token', { id: 'ada', tenant: 'acme', role: 'editor' }],
  ['bob-token', { id: 'bob', tenant: 'acme', role: 'reader' }],
])

const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.id}`)
  },
})

const server = createAgentServer({
  agents: { agent },
  authenticate(request) {
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '')
    return sessions.get(token ?? '') ?? null // { id, tenant? } and any other fields; null is 401
  },
  authorize: (principal, action) => principal?.role === 'editor' || !/create|update|delete/.test(action),
})
await serve(server, { port: 3000 })
// #endregion

export { sessions }
