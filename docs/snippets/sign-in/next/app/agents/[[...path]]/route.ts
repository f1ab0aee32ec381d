// #region route
import { createAgentServer, defineAgent } from 'agentwire'
import { toNext } from 'agentwire/next'
import { userOf } from '../../../session'

const agent = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.id}`)
  },
})

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNext(createAgentServer({ agents: { agent } }), {
  basePath: '/agents',
  principal: (request) => userOf(request.cookies.get('session')?.value),
})
// #endregion
