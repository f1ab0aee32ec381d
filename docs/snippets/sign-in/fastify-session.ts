import { closeServers } from '../kit/served.ts'

process.env.SESSION_SECRET ??= 'a-secret-of-at-least-32-characters'

// #region server
import cookie from '@fastify/cookie'
import session from '@fastify/session'
import { createAgentServer, defineAgent } from 'agentwire'
import { toFastify } from 'agentwire/fastify'
import createFastify from 'fastify'

declare module 'fastify' {
  interface Session {
    user?: { id: string }
  }
}

const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.id}`)
  },
})

const server = createAgentServer({ agents: { agent } })

const app = createFastify()
await app.register(cookie)
await app.register(session, {
  secret: process.env.SESSION_SECRET!,
  cookie: { secure: 'auto' },
  saveUninitialized: false,
})
app.post<{ Body: { name: string } }>('/login', async (request, reply) => {
  request.session.user = { id: request.body.name } // after your check of the password
  return reply.code(204).send()
})
app.post('/logout', async (request, reply) => {
  await request.session.destroy()
  return reply.code(204).send()
})
await app.register(toFastify(server, { principal: ({ session }) => session.user }), { prefix: '/agents' })
await app.listen({ port: 3000 })
// #endregion

closeServers()
