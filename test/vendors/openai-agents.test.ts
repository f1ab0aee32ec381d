import {
  Agent,
  hostedMcpTool,
  OpenAIConversationsSession,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool,
} from '@openai/agents'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { supervised } from '../fixtures/graphs.ts'
import { assistant, counting, langgraph, served } from '../openai/served.ts'

setTracingDisabled(true)

test('the Agents SDK runs tools, keeps conversations, and shows requests for approval', async () => {
  const { baseURL } = await served({ assistant, counting, supervised: langgraph(supervised()) })
  const runnerBy = (useResponses: boolean) =>
    new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey: 'key', useResponses }) })
  const runner = runnerBy(true)
  const get_weather = tool({
    name: 'get_weather',
    description: 'Weather.',
    parameters: z.object({ location: z.string() }),
    execute: async ({ location }) => `rain in ${location}`,
  })
  const weather = new Agent({ name: 'weather', model: 'assistant', tools: [get_weather] })
  expect((await runner.run(weather, 'Weather?')).finalOutput).toBe('The weather: rain in Oslo')
  const streamed = await runner.run(weather, 'Weather?', { stream: true })
  await streamed.completed
  expect(streamed.finalOutput).toBe('The weather: rain in Oslo')
  const counter = new Agent({ name: 'counter', model: 'counting' })
  const one = await runner.run(counter, 'a')
  const two = await runner.run(counter, 'b', { previousResponseId: one.lastResponseId! })
  expect(two.finalOutput).toBe('u:a|a:u:a|u:b')
  expect((await runnerBy(false).run(weather, 'Weather?')).finalOutput).toBe('The weather: rain in Oslo')
  const server = hostedMcpTool({
    serverLabel: 'agentwire',
    serverUrl: 'http://127.0.0.1/none',
    requireApproval: 'always',
  })
  const adder = new Agent({ name: 'adder', model: 'supervised', tools: [server] })
  const asked = await runner.run(adder, 'Add')
  expect(asked.interruptions.map((one) => one.name)).toEqual(['add'])
  asked.state.approve(asked.interruptions[0]!)
  expect((await runner.run(adder, asked.state)).finalOutput).toBe('Done.')
})

test('the Agents SDK keeps a session in a conversation', async () => {
  const { openai, baseURL } = await served({ counting })
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ baseURL, apiKey: 'key', useResponses: true }),
  })
  const session = new OpenAIConversationsSession({ client: openai as never })
  const agent = new Agent({ name: 'counter', model: 'counting' })
  expect((await runner.run(agent, 'a', { session })).finalOutput).toBe('u:a')
  expect((await runner.run(agent, 'b', { session })).finalOutput).toBe('u:a|a:u:a|u:b')
  expect(await session.getItems()).toHaveLength(4)
  expect(await session.popItem()).toMatchObject({ role: 'assistant' })
  expect(await session.getItems()).toHaveLength(3)
  await session.clearSession()
})
