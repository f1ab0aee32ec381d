// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const server = createAgentServer({
  agents: { agent },
  platform: { webhooks: { allowLoopback: true } }, // for development: webhooks may call this machine
})
await serve(server, { port: 3000 })
// #endregion

export { server }
