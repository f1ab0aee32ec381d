import assert from 'node:assert/strict'

// #region protected
import { createAgentServer, defineAgent } from 'agentwire'
import { mcp } from 'agentwire/mcp'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const issuer = 'https://login.example.com'
const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))

async function authenticate(request: Request) {
  const token = request.headers.get('authorization')?.replace(/^Bearer /, '')
  if (!token) return null
  const audience = 'https://agents.example.com/mcp' // the URL of this server
  const verified = await jwtVerify(token, keys, { issuer, audience }).catch(() => null)
  return verified?.payload.sub ? { id: verified.payload.sub } : null
}

const assistant = defineAgent({
  async run({ message }) {
    await message('Hello')
  },
})

export const server = createAgentServer({
  agents: { assistant },
  authenticate,
  faces: [mcp({ protectedResource: { authorizationServers: [issuer], scopes: ['agents'] } })],
})
// #endregion

const response = await server.fetch(
  new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  }),
)
assert.match(response.headers.get('www-authenticate')!, /resource_metadata=/)
await server.close()
