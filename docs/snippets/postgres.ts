import assert from 'node:assert/strict'
import { closeServers } from './kit/served.ts'

// #region postgres
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'
import { postgresStorage } from 'agentwire/postgres'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const { store, checkpointer } = postgresStorage({ url: 'postgres://localhost/agents' })
const server = createAgentServer({ agents: { agent }, store, checkpointer })
await serve(server, { port: 3000 })
// #endregion

assert.equal(typeof store.sweep, 'function')
closeServers()
await store.close()
