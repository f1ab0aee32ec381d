import { expect, test } from 'vitest'
import { deepAgent } from '../../examples/chat/server/agents/graphs.ts'
import { scriptedModels } from '../../examples/chat/server/models/models.ts'

test.each(['invoke', 'stream'] as const)('a message says how long its model thought: %s', async (way) => {
  const graph = deepAgent(scriptedModels(1))
  const input = { messages: [{ role: 'user', content: 'Show me what Markdown can do' }] }
  const run = async () => {
    if (way === 'invoke') return (await graph.invoke(input)).messages
    let last: { messages: { response_metadata: object }[] } | undefined
    for await (const values of await graph.stream(input, { streamMode: 'values' }))
      last = values as typeof last
    return last!.messages
  }
  const { thinking_ms } = (await run()).at(-1)!.response_metadata as { thinking_ms: number }
  expect(thinking_ms).toBeGreaterThan(0)
})

test('a message without thoughts has no time of thinking', async () => {
  const { messages } = await deepAgent(scriptedModels(0)).invoke({
    messages: [{ role: 'user', content: 'Hi there!' }],
  })
  expect(messages.at(-1)!.response_metadata).not.toHaveProperty('thinking_ms')
})
