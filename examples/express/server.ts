/** Agents in an Express app, next to its own routes and before its body parser. */
import type { AddressInfo } from 'node:net'
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { toExpress } from 'agentwire/express'
import express, { type Request, type Response } from 'express'

// #region agent
const greeter = defineAgent({
  async run({ messages, message }) {
    const answer = message()
    for (const word of ['Hello', ' from', ' Express.', ' You said: ']) await answer.text(word)
    await answer.text(textOf(messages.at(-1)!))
  },
})

const server = createAgentServer({ agents: { greeter } })
// #endregion

const app = express()
app.use('/agents', toExpress(server)) // before express.json(), whose limit is 100 KB
app.use(express.json())
// #region page
const page = '<!doctype html><title>Orders</title><h1>Orders</h1>'
app.get('/', (_: Request, response: Response) => void response.send(page))
// #endregion
// #region orders
app.post('/orders', (request: Request, response: Response) => {
  response.status(201).json({ ordered: request.body.item })
})
// #endregion

const { HOST = '127.0.0.1', PORT = '3000' } = process.env
const listener = app.listen(Number(PORT), HOST, (error?: Error) => {
  if (error) throw error
  console.log(server.banner(`http://${HOST}:${(listener.address() as AddressInfo).port}/agents`))
})
process.once('SIGTERM', async () => {
  listener.close()
  await server.close() // Streams are open requests, so the listener closes once they have ended.
})
