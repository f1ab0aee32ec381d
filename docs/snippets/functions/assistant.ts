import assert from 'node:assert/strict'
import { calls, fakeOpenAI, says } from '../kit/providers.ts'
import { closeServers } from '../kit/served.ts'

const asked = fakeOpenAI([calls('refund', { order: 17 }), says('Order 17 is refunded.')])

// #region agent
import { createAgentServer, defineAgent, tool } from 'agentwire'
import { openai } from 'agentwire/models'
import { serve } from 'agentwire/node'
import OpenAI from 'openai'
import { z } from 'zod'

const refund = tool({
  description: 'Refunds an order',
  input: z.object({ order: z.number() }),
  approve: true, // a person is asked before it runs
  run: ({ order }) => `Order ${order} is refunded.`,
})
const assistant = defineAgent({
  instructions: 'You help with orders.',
  model: openai('gpt-5-mini', new OpenAI()), // reads OPENAI_API_KEY
  tools: { refund },
})
const server = createAgentServer({ agents: { assistant } })
await serve(server, { port: 3000 })
// #endregion

const { engine } = server
const { threadId, status, interrupts } = await engine.run({ input: 'Refund order 17.' })
assert.equal(status, 'interrupted')
const question = interrupts[0]!.value as { actionRequests: unknown }
assert.deepEqual(question.actionRequests, [{ name: 'refund', args: { order: 17 } }])
const answers = { [interrupts[0]!.id]: { decisions: [{ type: 'approve' }] } }
const { text } = await engine.run({ threadId, answers })
assert.equal(text, 'Order 17 is refunded.')
assert.deepEqual(
  asked.map(({ messages }) => (messages as unknown[]).length),
  [2, 4],
)
closeServers()
await server.close()
