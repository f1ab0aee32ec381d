import assert from 'node:assert/strict'
import { lastText } from '../kit/ask.ts'
import { calls as callsOf, fakeOpenAI, says } from '../kit/providers.ts'
import { closeServers } from '../kit/served.ts'

const asked = fakeOpenAI([callsOf('refund', { order: 17 }), says('Order 17 is refunded.')])

// #region approval
import { createAgentServer, defineAgent } from 'agentwire'
import { openai } from 'agentwire/models'
import { serve } from 'agentwire/node'
import OpenAI from 'openai'

const model = openai('gpt-5-mini', new OpenAI())

const parameters = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] }
const tools = [{ name: 'refund', description: 'Refunds an order', parameters }]

const careful = defineAgent({
  async run(context) {
    for (;;) {
      const { messages, signal } = context
      const reply = await context.model(() => model.stream({ messages, tools, signal }), model)
      const calls = reply.content.filter((block) => block.type === 'toolCall')
      if (calls.length === 0) return
      for (const { id, name, args } of calls) {
        const isApproved = await context.interrupt({ question: `Run ${name}?`, input: args })
        const run = () => (isApproved ? `Order ${args.order} is refunded.` : 'The user said no.')
        await context.tool(name, args, run, { toolCallId: id })
      }
    }
  },
})

const server = createAgentServer({ agents: { careful } })
await serve(server, { port: 3000 })
// #endregion

const { engine } = server
const threadId = 'thread'
const input = { messages: [{ type: 'human', content: 'Refund order 17.' }] }
const { runId } = await engine.start({ threadId, input })
const { interrupts } = await engine.wait({ threadId, runId })
assert.deepEqual(interrupts[0]?.value, { question: 'Run refund?', input: { order: 17 } })
const next = await engine.respond({ threadId, answers: { [interrupts[0].id]: true } })
await engine.wait({ threadId, runId: next.runId })
assert.equal(await lastText(engine, threadId), 'Order 17 is refunded.')
assert.deepEqual(
  asked.map(({ messages }) => (messages as unknown[]).length),
  [1, 3],
)
closeServers()
await server.close()
