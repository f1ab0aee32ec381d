import { closeServers } from '../kit/served.ts'

// #region server
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { createAgentServer, defineAgent } from 'agentwire'
import { toExpress } from 'agentwire/express'
import { acceptSockets } from 'agentwire/node'
import express, { type Request, type Response } from 'express'
import session from 'express-session'

declare module 'express-session' {
  interface SessionData {
    user: { id: string }
  }
}

const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.id}`)
  },
})

const server = createAgentServer({ agents: { agent } })
const sessions = session({ secret: process.env.SESSION_SECRET!, resave: false, saveUninitialized: false })

const app = express()
app.use(sessions)
app.post('/login', express.json(), (req, res) => {
  req.session.user = { id: req.body.name } // after your check of the password
  res.sendStatus(204)
})
app.post('/logout', (req, res) => req.session.destroy(() => res.sendStatus(204)))
app.use('/agents', toExpress(server, { principal: (req) => req.session.user }))
const http = app.listen(3000)

/** The handshake of a socket passes no middleware of the app. */
async function socketUser({ headers, url }: IncomingMessage) {
  const req = { headers, url } as Request
  await promisify(sessions)(req, {} as Response)
  return req.session.user
}
acceptSockets(http, server, { basePath: '/agents', principal: socketUser })
// #endregion

closeServers()
