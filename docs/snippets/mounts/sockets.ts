// #region sockets
import { createServer } from 'node:http'
import { acceptSockets, toNode } from 'agentwire/node'
import { server } from './server.ts'

const http = createServer(toNode(server))
acceptSockets(http, server) // { basePath: '/agents' } if the server is mounted below a path
http.listen(3000, '127.0.0.1')
// #endregion
