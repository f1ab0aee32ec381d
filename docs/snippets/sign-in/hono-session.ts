import { closeServers } from '../kit/served.ts'

// #region server
import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
import { createAgentServer, defineAgent } from 'agentwire'
import { toHono } from 'agentwire/hono'
import { acceptSockets } from 'agentwire/node'
import { Hono } from 'hono'
import { deleteCookie, setSignedCookie } from 'hono/cookie'
import { parseSigned } from 'hono/utils/cookie'

const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.id}`)
  },
})

const server = createAgentServer({ agents: { agent } })
const secret = process.env.SESSION_SECRET!

async function userOf(cookie = '') {
  const { session } = await parseSigned(cookie, secret, 'session')
  return session ? { id: session } : undefined
}

interface App {
  Variables: { user: Awaited<ReturnType<typeof userOf>> }
}

const app = new Hono<App>()
app.use(async (c, next) => {
  c.set('user', await userOf(c.req.header('cookie')))
  await next()
})
app.post('/login', async (c) => {
  const { name } = await c.req.json() // after your check of the password
  await setSignedCookie(c, 'session', name, secret, { httpOnly: true, sameSite: 'Lax' })
  return c.body(null, 204)
})
app.post('/logout', (c) => {
  deleteCookie(c, 'session')
  return c.body(null, 204)
})
app.route('/agents', toHono<App>(server, { principal: (c) => c.get('user') }))
const http = serve({ fetch: app.fetch, port: 3000 }) as Server

// On Node, the handshake of a socket passes no middleware of the app.
acceptSockets(http, server, { basePath: '/agents', principal: (req) => userOf(req.headers.cookie) })
// #endregion

closeServers()
