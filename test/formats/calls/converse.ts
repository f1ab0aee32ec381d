import { expect, onTestFinished } from 'vitest'
import { z } from 'zod'
import { toolCallsOf } from '../../../src/agents/testing.ts'
import { createAgentEngine, defineAgent, tool } from '../../../src/index.ts'
import type { Model } from '../../../src/models/formats/models.ts'
import type { Said } from './provider.ts'

/** What a provider says in `converse`: a call and an answer with its result, then an answer in the next turn. */
export const SCRIPT: readonly Said[] = [
  { name: 'refund', args: { order: 17 } },
  'Order 17 is refunded.',
  'You are welcome.',
]

/** The schema of the tool, as it reaches each provider. */
export const PARAMETERS = {
  type: 'object',
  properties: { order: { type: 'number' } },
  required: ['order'],
}

/** The first agent of the guide with another model, in two turns. */
export async function converse(model: Model): Promise<void> {
  const refund = tool({
    description: 'Refunds an order',
    input: z.object({ order: z.number() }),
    run: ({ order }) => `Order ${order} is refunded.`,
  })
  const agent = defineAgent({ instructions: 'You help with orders.', model, tools: { refund } })
  const engine = createAgentEngine({ agents: { agent } })
  onTestFinished(() => engine.close())
  const first = await engine.run({ input: 'Refund order 17.' })
  expect(first).toMatchObject({ status: 'success', error: null, text: SCRIPT[1] })
  expect(toolCallsOf(first.messages)).toEqual([
    { name: 'refund', args: { order: 17 }, result: 'Order 17 is refunded.', status: 'success' },
  ])
  const answers = first.messages.filter(({ role }) => role === 'assistant')
  expect(answers.map(({ usage }) => usage)).toMatchObject([
    { inputTokens: 3, outputTokens: 4 },
    { inputTokens: 3, outputTokens: 4 },
  ])
  const second = await engine.run({ threadId: first.threadId, input: 'Thank you.' })
  expect(second).toMatchObject({ status: 'success', text: SCRIPT[2] })
}

/** The run of an agent whose model is refused. */
export async function refused(
  model: Model,
): Promise<{ readonly status: string; readonly reported: unknown }> {
  let reported: unknown
  const engine = createAgentEngine({
    agents: { agent: defineAgent({ model }) },
    onError: (error) => void (reported = error),
  })
  onTestFinished(() => engine.close())
  const { status } = await engine.run({ input: 'Hi' })
  return { status, reported }
}
