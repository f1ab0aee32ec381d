import { closeServers } from '../kit/served.ts'

// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { toExpress } from 'agentwire/express'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'

declare global {
  namespace Express {
    interface User {
      id: string
    }
  }
}

const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.id}`)
  },
})

const server = createAgentServer({ agents: { agent } })

passport.use(
  new Strategy((username, password, done) =>
    done(null, password === process.env.PASSWORD ? { id: username } : false),
  ),
)
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id: string, done) => done(null, { id }))

const app = express()
app.use(session({ secret: process.env.SESSION_SECRET!, resave: false, saveUninitialized: false }))
app.use(passport.session())
app.post('/login', express.json(), passport.authenticate('local'), (_req, res) => void res.sendStatus(204))
app.post('/logout', (req, res) => req.logout(() => res.sendStatus(204)))
app.use('/agents', toExpress(server, { principal: ({ user }) => user && { id: user.id } }))
app.listen(3000)
// #endregion

closeServers()
