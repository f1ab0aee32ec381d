import { closeServers } from '../kit/served.ts'

// #region server
import { serve } from '@hono/node-server'
import { createAgentServer, defineAgent } from 'agentwire'
import { toHono } from 'agentwire/hono'
import { Hono } from 'hono'
import { auth, authenticate } from './better-auth.ts'

const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.email}`)
  },
})

const app = new Hono()
app.on(['GET', 'POST'], '/api/auth/*', ({ req }) => auth.handler(req.raw))
app.route('/agents', toHono(createAgentServer({ agents: { agent }, authenticate })))
serve({ fetch: app.fetch, port: 3000 }, ({ port }) => console.log(`http://localhost:${port}/agents`))
// #endregion

closeServers()
