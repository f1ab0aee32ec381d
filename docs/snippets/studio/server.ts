import { closeServers } from '../kit/served.ts'

// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const agent = defineAgent({ run: ({ message }) => message('Hello there') })

const server = createAgentServer({
  agents: { agent },
  http: { cors: { origins: ['https://smith.langchain.com'] } },
})
await serve(server, { port: 2024 })
// #endregion

closeServers()
await server.close()
