// #region agents
import { createAgentServer, defineAgent, memoryStorage } from 'agentwire'
import { cachedServer } from 'agentwire/next'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

export const server = cachedServer(
  () => memoryStorage(), // opened once per process
  (storage) => createAgentServer({ agents: { agent }, ...storage, drainMs: 10_000 }),
)
// #endregion
