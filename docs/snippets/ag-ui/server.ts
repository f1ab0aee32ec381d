import { closeServers } from '../kit/served.ts'

// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { agUi } from 'agentwire/ag-ui'
import { serve } from 'agentwire/node'

const agent = defineAgent({
  run: ({ message }) => message('Hello from your own server.'),
})

await serve(createAgentServer({ agents: { agent }, faces: [agUi()] }), { port: 3000 })
// #endregion

closeServers()
