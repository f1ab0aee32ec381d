import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import createExpress from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { WebSocket } from 'ws'
import { agents } from './kit/agents.ts'

/** Node has sockets of its own from 22 on. */
const webSocketFactory = (url: string) => new WebSocket(url) as never

// #region server
import { createAgentServer } from 'agentwire'

const server = createAgentServer({ agents })
// #endregion

// #region node
import { serve } from 'agentwire/node'

const { origin, close } = await serve(server, { port: 3000 }) // on 127.0.0.1; hostname: '0.0.0.0' opens it to other machines
// #endregion

// #region express
import { toExpress } from 'agentwire/express'

const app = createExpress()
app.use('/agents', toExpress(server)) // before or after express.json()
// #endregion

// #region fastify
import { toFastify } from 'agentwire/fastify'

const fastify = createFastify()
await fastify.register(toFastify(server), { prefix: '/agents' })
// #endregion

// #region hono
import { toHono } from 'agentwire/hono'

const hono = new Hono()
hono.route('/agents', toHono(server))
// #endregion

// #region node-listener
import { createServer } from 'node:http'
import { toNode } from 'agentwire/node'

const listener = toNode(server)
const http = createServer((request, response) =>
  request.url === '/health' ? response.end('ok') : listener(request, response),
)
// #endregion

// #region sockets
import { acceptSockets } from 'agentwire/node'

const cutSockets = acceptSockets(http, server) // with npm install ws; { basePath: '/agents' } where it is mounted below a path
// #endregion

// #region socket-client
import { Client } from '@langchain/langgraph-sdk'

async function greetOverSocket(apiUrl: string) {
  const { threads } = new Client({ apiUrl })
  const thread = threads.stream({ assistantId: 'agent', transport: 'websocket', webSocketFactory })
  await thread.run.start({ input: { messages: [{ type: 'human', content: 'Hello' }] } })
  const state = await thread.output
  await thread.close()
  return state
}
// #endregion

// #region web
async function answer(request: Request): Promise<Response> {
  const answered = await server.handle(request) // undefined where no route matches
  return answered ?? new Response('Nothing here.', { status: 404 })
}
// #endregion

async function portOf(listening: Server): Promise<number> {
  if (!listening.listening) await new Promise((resolve) => listening.once('listening', resolve))
  return (listening.address() as AddressInfo).port
}

const expressServer = app.listen(0, '127.0.0.1')
http.listen(0, '127.0.0.1')
const threads = [
  `${origin}/threads`,
  `http://127.0.0.1:${await portOf(expressServer)}/agents/threads`,
  `${await fastify.listen({ port: 0, host: '127.0.0.1' })}/agents/threads`,
  `http://127.0.0.1:${await portOf(http)}/threads`,
]
for (const url of threads) assert.deepEqual(await (await fetch(url)).json(), [], url)
assert.deepEqual(await (await hono.request('/agents/threads')).json(), [])
assert.equal((await answer(new Request('http://in.process/elsewhere'))).status, 404)
assert.equal((await answer(new Request('http://in.process/threads'))).status, 200)

const { messages } = (await greetOverSocket(`http://127.0.0.1:${await portOf(http)}`)) as {
  messages: unknown[]
}
assert.equal(messages.length, 2)

await close()
cutSockets()
await fastify.close()
for (const listening of [expressServer, http]) {
  listening.closeAllConnections()
  listening.close()
}
