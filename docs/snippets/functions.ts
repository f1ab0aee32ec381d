import assert from 'node:assert/strict'
import { lastText } from './kit/ask.ts'
import { calls, recordedOpenAI, says } from './kit/providers.ts'

const refunds = [calls('refund', { order: 17 }), says('Order 17 is refunded.')]
const { openai, asked } = recordedOpenAI([...refunds, ...refunds])

// #region loop
import { defineAgent, runToolCalls } from 'agentwire'
import { completionsTarget, openaiChat } from 'agentwire/formats'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources'

const parameters = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] }
const tools: ChatCompletionTool[] = [{ type: 'function', function: { name: 'refund', parameters } }]
const refund = ({ order }: { order: number }) => `Order ${order} is refunded.`

export const assistant = defineAgent({
  async run(context) {
    const ask = () => {
      const written = completionsTarget.writeRequest(context.messages) // the conversation, as OpenAI spells it
      const messages = written.messages as ChatCompletionMessageParam[]
      return openai.chat.completions.create({ model: 'gpt-5-mini', messages, tools, stream: true })
    }
    const handlers = { tools: { refund }, approve: ['refund'] }
    while (await runToolCalls(context, await context.model(ask, openaiChat), handlers));
  },
})
// #endregion

// #region approval
const careful = defineAgent({
  async run(context) {
    for (;;) {
      const messages = completionsTarget.writeRequest(context.messages)
        .messages as ChatCompletionMessageParam[]
      const request = { model: 'gpt-5-mini', messages, tools, stream: true } as const
      const reply = await context.model(() => openai.chat.completions.create(request), openaiChat)
      const calls = reply.content.filter((block) => block.type === 'toolCall')
      if (calls.length === 0) return
      for (const { id, name, args } of calls) {
        const isApproved = await context.interrupt({ question: `Run ${name}?`, input: args })
        const run = () => (isApproved ? refund({ order: Number(args.order) }) : 'The user said no.')
        await context.tool(name, args, run, { toolCallId: id })
      }
    }
  },
})
// #endregion

// #region subagent
const editor = defineAgent({
  async run({ subagent, message }) {
    const [facts, style] = await Promise.all([
      subagent(
        'researcher',
        'Find the facts.',
        async ({ message }) => void (await message('Water boils at 100 °C.')),
      ),
      subagent('stylist', 'Choose a tone.', async () => 'plain'),
    ])
    await message(`${facts} (${style})`)
  },
})
// #endregion

import { createAgentServer } from 'agentwire'

const { engine, close } = createAgentServer({ agents: { assistant, careful, editor } })

async function refunded(assistantId: string, answer: unknown): Promise<unknown> {
  const threadId = assistantId
  const input = { messages: [{ type: 'human', content: 'Refund order 17.' }] }
  const { runId } = await engine.start({ threadId, assistantId, input })
  const { status, interrupts } = await engine.wait({ threadId, runId })
  assert.equal(status, 'interrupted')
  const next = await engine.respond({ threadId, answers: { [interrupts[0]!.id]: answer } })
  await engine.wait({ threadId, runId: next.runId })
  assert.equal(await lastText(engine, threadId), 'Order 17 is refunded.')
  return interrupts[0]?.value
}

const question = (await refunded('assistant', { decisions: [{ type: 'approve' }] })) as {
  actionRequests: unknown
}
assert.deepEqual(question.actionRequests, [{ name: 'refund', args: { order: 17 } }])
assert.deepEqual(await refunded('careful', true), { question: 'Run refund?', input: { order: 17 } })
assert.deepEqual(
  asked.map(({ messages }) => (messages as unknown[]).length),
  [1, 3, 1, 3],
)

const input = { messages: [{ type: 'human', content: 'Write.' }] }
const { runId } = await engine.start({ threadId: 'page', assistantId: 'editor', input })
await engine.wait({ threadId: 'page', runId })
assert.equal(await lastText(engine, 'page'), 'Water boils at 100 °C. (plain)')
await close()
