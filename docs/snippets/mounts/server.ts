// #region server
import { createAgentServer, defineAgent } from 'agentwire'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

export const server = createAgentServer({ agents: { agent } })
// #endregion
