import { closeServers } from '../kit/served.ts'

// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'
import { authenticate } from './jwt.ts' // the file of your sign-in service

const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.id}`)
  },
})

const server = createAgentServer({ agents: { agent }, authenticate })
await serve(server, { port: 3000 })
// #endregion

closeServers()
