import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import { Command, MemorySaver } from '@langchain/langgraph'
import { beforeEach, describe, expect, test } from 'vitest'
import { approvalAgent, deepAgent } from '../../examples/demo/graphs.ts'
import { searchLibrary } from '../../examples/demo/library.ts'
import { chooseModels, scriptedModels } from '../../examples/demo/models.ts'
import { outbox } from '../../examples/demo/tools.ts'

const models = scriptedModels(0)

describe('the deep agent', () => {
  const ask = async (content: string) => {
    const { messages } = await deepAgent(models).invoke({ messages: [{ role: 'user', content }] })
    return { calls: messages.flatMap(callsOf), answer: messages.at(-1)!.text }
  }

  test('gives arithmetic to math-whiz, whose calculator computes it', async () => {
    const { calls, answer } = await ask('What is 12 * (3 + 4)?')
    expect(calls).toEqual([{ subagent_type: 'math-whiz', description: 'Compute 12 * (3 + 4)' }])
    expect(answer).toBe('12 * (3 + 4) = 84.')
  })

  test('gives a question to the researcher, who answers from the pages', async () => {
    const { calls, answer } = await ask('What is a checkpoint?')
    expect(calls).toEqual([{ subagent_type: 'researcher', description: 'What is a checkpoint' }])
    expect(answer).toContain(searchLibrary('checkpoint')[0]!.excerpt)
  })

  test('asks both subagents in one step, and answers with both results', async () => {
    const { calls, answer } = await ask('Research coffee and compute 17 % of 240')
    expect(calls.map((call) => call.subagent_type)).toEqual(['researcher', 'math-whiz'])
    expect(answer).toContain('roasted seeds')
    expect(answer).toContain('17 / 100 * 240 = 40.8.')
  })

  test('says so when a sum cannot be done, and when nothing is found', async () => {
    expect((await ask('1 / 0')).answer).toBe('Error: “1 / 0” has no finite value.')
    expect((await ask('Research zeppelins')).answer).toContain('found nothing')
  })

  test('answers small talk itself', async () => {
    const { calls, answer } = await ask('Hi there!')
    expect(calls).toEqual([])
    expect(answer).toContain('two helpers')
  })
})

describe('the approval agent', () => {
  const start = async (content: string) => {
    const graph = approvalAgent(models)
    graph.checkpointer = new MemorySaver()
    const config = { configurable: { thread_id: content } }
    const result = await graph.invoke({ messages: [{ role: 'user', content }] }, config)
    const decide = async (decision: object) => {
      const { messages } = await graph.invoke(new Command({ resume: { decisions: [decision] } }), config)
      return messages.at(-1)!.text
    }
    return { result, decide }
  }

  beforeEach(() => {
    outbox.length = 0
  })

  test('waits before the letter is sent, and sends it when approved', async () => {
    const { result, decide } = await start('Email ada@example.com that lunch is at noon')
    const letter = { to: 'ada@example.com', subject: 'Lunch is at noon', body: 'Lunch is at noon' }
    expect(JSON.stringify(result)).toContain('"allowedDecisions":["approve","edit","reject"]')
    expect(outbox).toEqual([])
    expect(await decide({ type: 'approve' })).toBe(
      'The letter to ada@example.com lies in the outbox (1 so far).',
    )
    expect(outbox).toEqual([letter])
  })

  test('sends the letter as it was edited', async () => {
    const { decide } = await start('Write to bob@example.com')
    const args = { to: 'bob@example.com', subject: 'Later', body: 'See you.' }
    await decide({ type: 'edit', editedAction: { name: 'send_email', args } })
    expect(outbox).toEqual([args])
  })

  test('sends nothing when rejected', async () => {
    const { decide } = await start('Email eve@example.com about the plans')
    expect(await decide({ type: 'reject', message: 'No.' })).toBe('All right, I did not send it.')
    expect(outbox).toEqual([])
  })

  test('asks for the address when there is none', async () => {
    const { result } = await start('Send a letter')
    expect(result.messages.at(-1)!.text).toContain('To whom?')
  })
})

test('a key chooses its provider, and without one the models are scripted', async () => {
  expect((await chooseModels({})).coordinator._llmType()).toBe('scripted')
  expect((await chooseModels({ OPENAI_API_KEY: 'x' })).coordinator._llmType()).toBe('openai')
  expect((await chooseModels({ ANTHROPIC_API_KEY: 'x' })).coordinator._llmType()).toBe('anthropic')
})

function callsOf(message: BaseMessage): Record<string, unknown>[] {
  return AIMessage.isInstance(message) ? (message.tool_calls ?? []).map((call) => call.args) : []
}
