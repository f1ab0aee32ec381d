import assert from 'node:assert/strict'
import { closeServers, origin } from '../kit/served.ts'

// #region node
import { serve } from 'agentwire/node'
import { server } from './server.ts'

await serve(server, { port: 3000 }) // on 127.0.0.1; hostname: '0.0.0.0' opens it to other machines
// #endregion

assert.equal((await fetch(`${await origin()}/threads`)).status, 200)
closeServers()
