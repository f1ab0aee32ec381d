/** Agents beside the routes of a plain `node:http` server. For agents alone, `serve` of `agentwire/node` is enough. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { toNode } from 'agentwire/node'

const greeter = defineAgent({
  async run({ messages, message }) {
    const answer = message()
    for (const word of ['Hello', ' from', ' Node.', ' You said: ']) await answer.text(word)
    await answer.text(textOf(messages.at(-1)!))
  },
})

const server = createAgentServer({ agents: { greeter } })

const agents = toNode(server, { basePath: '/agents' })

const listener = createServer((request, response) => {
  // What is no route of the agents comes back.
  agents(request, response, async () => {
    const isOrder = request.method === 'POST' && request.url === '/orders'
    const { item } = isOrder ? ((await json(request)) as { item: string }) : {}
    response.writeHead(isOrder ? 201 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ordered: item }))
  })
})
listener.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`)
})
process.once('SIGTERM', async () => {
  listener.close()
  await server.close() // Streams are open requests, so the listener closes once they have ended.
})
