import assert from 'node:assert/strict'
import { closeServers, origin } from '../kit/served.ts'

// #region node-listener
import { createServer } from 'node:http'
import { toNode } from 'agentwire/node'
import { server } from './server.ts'

const agents = toNode(server)
const http = createServer((request, response) =>
  request.url === '/health' ? response.end('ok') : agents(request, response),
)
http.listen(3000, '127.0.0.1')
// #endregion

assert.deepEqual(await (await fetch(`${await origin()}/threads`)).json(), [])
assert.equal(await (await fetch(`${await origin()}/health`)).text(), 'ok')
closeServers()
