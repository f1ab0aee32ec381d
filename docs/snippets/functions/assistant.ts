import assert from 'node:assert/strict'
import { lastText } from '../kit/ask.ts'
import { calls, fakeOpenAI, says } from '../kit/providers.ts'
import { closeServers } from '../kit/served.ts'

const asked = fakeOpenAI([calls('refund', { order: 17 }), says('Order 17 is refunded.')])

// #region loop
import { createAgentServer, defineAgent, runToolCalls } from 'agentwire'
import { openai } from 'agentwire/models'
import { serve } from 'agentwire/node'
import OpenAI from 'openai'
import type { ChatCompletionTool } from 'openai/resources'

const client = new OpenAI() // reads OPENAI_API_KEY

const parameters = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] }
const tools: ChatCompletionTool[] = [{ type: 'function', function: { name: 'refund', parameters } }]
const refund = ({ order }: { order: number }) => `Order ${order} is refunded.`

const assistant = defineAgent({
  async run(context) {
    const ask = () => {
      const { messages } = openai.writeRequest(context.messages) // the conversation in OpenAI's format
      return client.chat.completions.create({ model: 'gpt-5-mini', messages, tools, stream: true })
    }
    const handlers = { tools: { refund }, approve: ['refund'] }
    while (await runToolCalls(context, await context.model(ask, openai), handlers));
  },
})

const server = createAgentServer({ agents: { assistant } })
await serve(server, { port: 3000 })
// #endregion

const { engine } = server
const threadId = 'thread'
const input = { messages: [{ type: 'human', content: 'Refund order 17.' }] }
const { runId } = await engine.start({ threadId, input })
const { status, interrupts } = await engine.wait({ threadId, runId })
assert.equal(status, 'interrupted')
const question = interrupts[0]!.value as { actionRequests: unknown }
assert.deepEqual(question.actionRequests, [{ name: 'refund', args: { order: 17 } }])
const answer = { decisions: [{ type: 'approve' }] }
const next = await engine.respond({ threadId, answers: { [interrupts[0]!.id]: answer } })
await engine.wait({ threadId, runId: next.runId })
assert.equal(await lastText(engine, threadId), 'Order 17 is refunded.')
assert.deepEqual(
  asked.map(({ messages }) => (messages as unknown[]).length),
  [1, 3],
)
closeServers()
await server.close()
