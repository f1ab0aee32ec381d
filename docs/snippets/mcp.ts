import assert from 'node:assert/strict'
import { agents } from './kit/agents.ts'

// #region server
import { createAgentServer } from 'agentwire'
import { mcp } from 'agentwire/mcp'

export const server = createAgentServer({ agents, faces: [mcp()] })
// #endregion

// #region protected
const authenticate = async (request: Request) => userOfToken(request.headers.get('authorization'))

export const guarded = createAgentServer({
  agents,
  authenticate,
  faces: [
    mcp({ protectedResource: { authorizationServers: ['https://login.example.com'], scopes: ['agents'] } }),
  ],
})
// #endregion

// #region form
import { defineAgent } from 'agentwire'

export const booking = defineAgent({
  async run({ interrupt, message }) {
    const answer = await interrupt<{ action: 'accept' | 'decline'; content?: { at: string } }>({
      message: 'When?',
      requestedSchema: {
        type: 'object',
        properties: { at: { type: 'string', enum: ['18:00', '20:30'] } },
        required: ['at'],
      },
    })
    await message(answer.content ? `Booked for ${answer.content.at}.` : 'Not booked.')
  },
})
// #endregion

async function userOfToken(token: string | null) {
  return token === 'Bearer ann' ? { id: 'ann' } : null
}

const ask = (at: typeof server, body: object) =>
  at.fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    }),
  )
assert.match(await (await ask(server, { method: 'tools/list' })).text(), /"tools":/)
assert.match((await ask(guarded, { method: 'ping' })).headers.get('www-authenticate')!, /resource_metadata=/)
await server.close()
await guarded.close()
