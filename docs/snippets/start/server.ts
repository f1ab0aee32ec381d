// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const agent = defineAgent({ run: ({ message }) => message('Hello there') })
await serve(createAgentServer({ agents: { agent } }), { port: 3000 })
// #endregion
