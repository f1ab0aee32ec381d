/** Agents in a Hono app, next to its own routes. On Bun, Deno and Workers only the last lines differ. */
import { serve } from '@hono/node-server'
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { toHono } from 'agentwire/hono'
import { Hono } from 'hono'

// #region agent
const greeter = defineAgent({
  async run({ messages, message }) {
    const answer = message()
    for (const word of ['Hello', ' from', ' Hono.', ' You said: ']) await answer.text(word)
    await answer.text(textOf(messages.at(-1)!))
  },
})

const server = createAgentServer({ agents: { greeter } })
// #endregion

const app = new Hono()
// #region page
const page = '<!doctype html><title>Orders</title><h1>Orders</h1>'
app.get('/', (context) => context.html(page))
// #endregion
// #region orders
app.post('/orders', async (context) => {
  const { item } = await context.req.json()
  return context.json({ ordered: item }, 201)
})
// #endregion
app.route('/agents', toHono(server))

const { HOST = '127.0.0.1', PORT = '3000' } = process.env
const options = { fetch: app.fetch, port: Number(PORT), hostname: HOST }
const listener = serve(options, ({ port }) => console.log(server.banner(`http://${HOST}:${port}/agents`)))
process.once('SIGTERM', async () => {
  listener.close()
  await server.close() // Streams are open requests, so the listener closes once they have ended.
})
