import assert from 'node:assert/strict'
import { ask } from './kit/ask.ts'

// #region limits
import { createAgentServer, defineAgent } from 'agentwire'

const slow = defineAgent({
  run: ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})
const server = createAgentServer({
  agents: { slow },
  limits: { runMs: 50, runs: 200, runsPerOwner: 5, recursionLimit: 50, configurable: ['model'] },
  onError: () => {}, // such as a log
})
// #endregion

const { status, error } = await ask(server.engine, 'thread', 'Never end')
assert.equal(status, 'error')
assert.match(String(error), /longer than 50 ms/)
await server.close()
