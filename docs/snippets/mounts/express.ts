import assert from 'node:assert/strict'
import { closeServers, origin } from '../kit/served.ts'

// #region express
import { toExpress } from 'agentwire/express'
import express from 'express'
import { server } from './server.ts'

const app = express()
app.use('/agents', toExpress(server)) // before express.json()
app.listen(3000)
// #endregion

assert.deepEqual(await (await fetch(`${await origin()}/agents/threads`)).json(), [])
closeServers()
