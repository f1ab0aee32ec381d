/** Agents in a plain `node:http` server, next to its own routes. Without other routes, use `serve` instead. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { toNode } from 'agentwire/node'

// #region agent
const greeter = defineAgent({
  async run({ messages, message }) {
    const answer = message()
    for (const word of ['Hello', ' from', ' Node.', ' You said: ']) await answer.text(word)
    await answer.text(textOf(messages.at(-1)!))
  },
})

const server = createAgentServer({ agents: { greeter } })
// #endregion

const agents = toNode(server, { basePath: '/agents' })

const listener = createServer((request, response) => {
  // Called if the path is not a route of the agents.
  agents(request, response, async () => {
    // #region page
    const page = '<!doctype html><title>Orders</title><h1>Orders</h1>'
    if (request.url?.split('?')[0] === '/') return response.setHeader('content-type', 'text/html').end(page)
    // #endregion
    // #region orders
    if (request.method === 'POST' && request.url === '/orders') {
      const { item } = (await json(request)) as { item: string }
      return response.writeHead(201).end(JSON.stringify({ ordered: item }))
    }
    // #endregion
    return response.writeHead(404).end()
  })
})
const { HOST = '127.0.0.1', PORT = '3000' } = process.env
listener.listen(Number(PORT), HOST, () => {
  console.log(server.banner(`http://${HOST}:${(listener.address() as AddressInfo).port}/agents`))
})
process.once('SIGTERM', async () => {
  listener.close()
  await server.close() // Streams are open requests, so the listener closes once they have ended.
})
