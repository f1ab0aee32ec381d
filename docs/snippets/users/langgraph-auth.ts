import assert from 'node:assert/strict'
import { forward } from '../kit/forward.ts'
import { closeServers } from '../kit/served.ts'

// #region auth
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'
import { langgraphAuth } from 'agentwire/platform'

const users = new Map([
  ['Bearer ada-token', { identity: 'ada', permissions: [] }],
  ['Bearer eve-token', { identity: 'eve', permissions: [] }],
])

const auth = new Auth()
  .authenticate((request) => {
    const user = users.get(request.headers.get('authorization') ?? '')
    if (!user) throw new HTTPException(401, { message: 'Please sign in.' })
    return user // { identity, permissions } and any other fields
  })
  .on('threads', ({ value, user }) => {
    if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity }
    return { owner: user.identity }
  })

const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.id}`)
  },
})

const server = createAgentServer({ agents: { agent }, ...langgraphAuth(auth) })
await serve(server, { port: 3000 })
// #endregion

import { Client } from '@langchain/langgraph-sdk'

await forward('127.0.0.1:3000')
const clientOf = (token: string) =>
  new Client({
    apiUrl: 'http://127.0.0.1:3000',
    defaultHeaders: { authorization: `Bearer ${token}` },
    callerOptions: { maxRetries: 0 },
  })

const { thread_id, metadata } = await clientOf('ada-token').threads.create()
assert.equal(metadata?.owner, 'ada')
assert.equal((await clientOf('ada-token').threads.search()).length, 1)
assert.equal(await clientOf('eve-token').threads.count(), 0)
await assert.rejects(clientOf('eve-token').threads.get(thread_id), /404/)
await assert.rejects(clientOf('nobody').threads.get(thread_id), /401/)
closeServers()
