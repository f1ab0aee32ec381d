import assert from 'node:assert/strict'
import { Client } from '@langchain/langgraph-sdk'
import { defineAgent } from 'agentwire'

const users = new Map([
  ['Bearer ada', { identity: 'ada', permissions: [] }],
  ['Bearer eve', { identity: 'eve', permissions: [] }],
])
const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.id}`)
  },
})

// #region auth
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'
import { createAgentServer } from 'agentwire'
import { langgraphAuth } from 'agentwire/platform'

const auth = new Auth()
  .authenticate((request) => {
    const user = users.get(request.headers.get('authorization') ?? '')
    if (!user) throw new HTTPException(401, { message: 'Who are you?' })
    return user // { identity, permissions, and what else you know of the user }
  })
  .on('threads', ({ value, user }) => {
    if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity }
    return { owner: user.identity }
  })

const server = createAgentServer({ agents: { agent }, ...langgraphAuth(auth) })
// #endregion

const clientOf = (token: string) =>
  new Client({
    apiUrl: 'http://in.process',
    defaultHeaders: { authorization: `Bearer ${token}` },
    callerOptions: {
      fetch: (url: string, init?: RequestInit) => server.fetch(new Request(url, init)),
      maxRetries: 0,
    },
  })

const { thread_id, metadata } = await clientOf('ada').threads.create()
assert.equal(metadata?.owner, 'ada')
assert.equal((await clientOf('ada').threads.search()).length, 1)
assert.equal(await clientOf('eve').threads.count(), 0)
await assert.rejects(clientOf('eve').threads.get(thread_id), /404/)
await assert.rejects(clientOf('nobody').threads.get(thread_id), /401/)
await server.close()
