import assert from 'node:assert/strict'
import { closeServers, origin } from '../kit/served.ts'

// #region fastify
import { toFastify } from 'agentwire/fastify'
import createFastify from 'fastify'
import { server } from './server.ts'

const fastify = createFastify()
await fastify.register(toFastify(server), { prefix: '/agents' })
await fastify.listen({ port: 3000 })
// #endregion

assert.deepEqual(await (await fetch(`${await origin()}/agents/threads`)).json(), [])
closeServers()
