import assert from 'node:assert/strict'
import { closeServers } from '../kit/served.ts'

// #region agent
import { createAgentServer, defineAgent, tool } from 'agentwire'
import { serve } from 'agentwire/node'
import { scriptedModel } from 'agentwire/testing'

const refund = tool({
  description: 'Refunds an order',
  approve: true, // a person is asked before it runs
  run: () => 'Order 17 is refunded.',
})
const model = scriptedModel(({ messages }) =>
  messages.at(-1)?.role === 'tool' ? 'It is done.' : { calls: [{ name: 'refund' }] },
)
const assistant = defineAgent({ instructions: 'You help with orders.', model, tools: { refund } })
const server = createAgentServer({ agents: { assistant } })
await serve(server, { port: 3000 })
// #endregion

import { approve } from 'agentwire/testing'

const asked = await server.engine.run({ input: 'Refund order 17.' })
assert.equal(asked.status, 'interrupted')
const { threadId, interrupts } = asked
const { text } = await server.engine.run({ threadId, answers: approve(interrupts) })
assert.equal(text, 'It is done.')
closeServers()
await server.close()
