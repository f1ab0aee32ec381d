import assert from 'node:assert/strict'
import { closeServers } from '../kit/served.ts'

// #region prices
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const server = createAgentServer({
  agents: { agent },
  devtools: {
    prices: {
      // The prices of your provider.
      'your-model': { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    },
  },
})
await serve(server, { port: 3000 })
// #endregion

const answer = await server.fetch(new Request('http://in.process/devtools/api/server'))
assert.deepEqual((await answer.json()).prices, {
  'your-model': { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
})
closeServers()
await server.close()
