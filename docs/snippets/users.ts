import assert from 'node:assert/strict'
import { Client } from '@langchain/langgraph-sdk'

const sessions = new Map([
  ['ada-token', { id: 'ada', tenant: 'acme', role: 'editor' }],
  ['bob-token', { id: 'bob', tenant: 'acme', role: 'reader' }],
  ['eve-token', { id: 'eve', tenant: 'umbrella', role: 'editor' }],
])

// #region agent
import { defineAgent } from 'agentwire'

const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.id}`)
  },
})
// #endregion

// #region authenticate
import { createAgentServer } from 'agentwire'

const server = createAgentServer({
  agents: { agent },
  authenticate(request) {
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '')
    return sessions.get(token ?? '') ?? null // { id, tenant? } and what else you know of the user; null is 401
  },
  authorize: (principal, action) => principal?.role === 'editor' || !/create|update|delete/.test(action),
})
// #endregion

// #region client
const clientOf = (token: string) =>
  new Client({
    apiUrl: 'http://in.process',
    defaultHeaders: { authorization: `Bearer ${token}` },
    callerOptions: {
      fetch: (url: string, init?: RequestInit) => server.fetch(new Request(url, init)),
      maxRetries: 0,
    },
  })
// #endregion

const { thread_id } = await clientOf('ada-token').threads.create()
assert.equal((await clientOf('bob-token').threads.get(thread_id)).thread_id, thread_id)
await assert.rejects(clientOf('bob-token').threads.delete(thread_id), /403/)
await assert.rejects(clientOf('eve-token').threads.get(thread_id), /404/)
await assert.rejects(clientOf('nobody').threads.get(thread_id), /401/)
await server.close()
