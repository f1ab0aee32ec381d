// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { toFastify } from 'agentwire/fastify'
import createFastify from 'fastify'

const agent = defineAgent({ run: ({ message }) => message('Hello there') })
const app = createFastify()
await app.register(toFastify(createAgentServer({ agents: { agent } })), { prefix: '/agents' })
await app.listen({ port: 3000 })
// #endregion

await app.close()
