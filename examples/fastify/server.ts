/** Agents in a Fastify app, next to its own routes. The app's body parsers are unchanged. */
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { toFastify } from 'agentwire/fastify'
import fastify from 'fastify'

// #region agent
const greeter = defineAgent({
  async run({ messages, message }) {
    const answer = message()
    for (const word of ['Hello', ' from', ' Fastify.', ' You said: ']) await answer.text(word)
    await answer.text(textOf(messages.at(-1)!))
  },
})

const server = createAgentServer({ agents: { greeter } })
// #endregion

const app = fastify()
// #region page
const page = '<!doctype html><title>Orders</title><h1>Orders</h1>'
app.get('/', async (_, reply) => reply.type('text/html').send(page))
// #endregion
// #region orders
app.post<{ Body: { item: string } }>('/orders', async (request, reply) => {
  return reply.code(201).send({ ordered: request.body.item })
})
// #endregion
await app.register(toFastify(server), { prefix: '/agents' })

const { HOST = '127.0.0.1', PORT = '3000' } = process.env
const origin = await app.listen({ port: Number(PORT), host: HOST })
console.log(server.banner(`${origin}/agents`))
process.once('SIGTERM', () => app.close()) // closes the agents first
