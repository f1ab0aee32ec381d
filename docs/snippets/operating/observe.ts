import assert from 'node:assert/strict'
import { ask } from '../kit/ask.ts'
import { closeServers } from '../kit/served.ts'

// #region observe
import { createAgentServer, defineAgent, type ServerEvent } from 'agentwire'
import { serve } from 'agentwire/node'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const server = createAgentServer({
  agents: { agent },
  observe: (event: ServerEvent) => console.log(event),
})
await serve(server, { port: 3000 })
// #endregion

assert.equal((await ask(server.engine, 'thread', 'Hi')).status, 'success')
closeServers()
await server.close()
