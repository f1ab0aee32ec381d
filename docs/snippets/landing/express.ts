import { closeServers } from '../kit/served.ts'

// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { toExpress } from 'agentwire/express'
import express from 'express'

const agent = defineAgent({ run: ({ message }) => message('Hello there') })
const app = express()
app.use('/agents', toExpress(createAgentServer({ agents: { agent } })))
app.listen(3000)
// #endregion

closeServers()
