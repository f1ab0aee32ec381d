import assert from 'node:assert/strict'
import { closeServers } from '../kit/served.ts'

// #region on
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

export const server = createAgentServer({ agents: { agent }, devtools: true })
await serve(server, { port: 3000 })
// #endregion

assert.equal((await server.fetch(new Request('http://in.process/devtools/api/threads'))).status, 200)
closeServers()
