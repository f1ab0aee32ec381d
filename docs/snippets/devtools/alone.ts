import assert from 'node:assert/strict'

process.env.DEVTOOLS_PASSWORD = 'secret'

// #region alone
import { createDevtoolsHandler } from 'agentwire/devtools'
import { serve } from 'agentwire/node'
import { authenticate } from './password.ts'
import { server } from './server.ts'

const devtools = createDevtoolsHandler({ engine: server.engine, authenticate })
await serve(devtools, { port: 4000 })
// #endregion

import { closeServers } from '../kit/served.ts'

const threads = (headers: Record<string, string> = {}) =>
  new Request('http://in.process/devtools/api/threads', { headers })
assert.equal((await devtools.fetch(threads())).status, 401)
assert.equal((await devtools.fetch(threads({ authorization: `Basic ${btoa('dev:secret')}` }))).status, 200)
closeServers()
await devtools.close()
