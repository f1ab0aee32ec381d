import assert from 'node:assert/strict'
import { ask } from './kit/ask.ts'
import { closeServers } from './kit/served.ts'

// #region limits
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const server = createAgentServer({
  agents: { agent },
  limits: {
    runMs: 10 * 60_000, // ten minutes
    runs: 200,
    runsPerOwner: 5,
    recursionLimit: 50,
    configurable: ['model'],
  },
})
await serve(server, { port: 3000 })
// #endregion

assert.equal((await ask(server.engine, 'thread', 'Hi')).status, 'success')
closeServers()
await server.close()

const slow = defineAgent({
  run: ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})
const limited = createAgentServer({ agents: { slow }, limits: { runMs: 50 }, onError: () => {} })
const { status, error } = await ask(limited.engine, 'thread', 'Never end')
assert.equal(status, 'error')
assert.match(String(error), /longer than 50 ms/)
await limited.close()
