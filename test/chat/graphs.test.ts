import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import { Command, MemorySaver } from '@langchain/langgraph'
import { beforeEach, describe, expect, test } from 'vitest'
import { artifactsOf } from '../../examples/chat/lib/files.ts'
import { deepAgent, secretaryAgent } from '../../examples/chat/server/agents/graphs.ts'
import { scriptedModels } from '../../examples/chat/server/models/models.ts'
import { searchLibrary } from '../../examples/chat/server/tools/library.ts'
import { outbox } from '../../examples/chat/server/tools/tools.ts'

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

  test('its researcher asks the user where it is told to, and uses the answer', async () => {
    const graph = deepAgent(models)
    graph.checkpointer = new MemorySaver()
    const config = { configurable: { thread_id: 'drinks' } }
    const input = { messages: [{ role: 'user', content: 'Research coffee, and ask me what exactly' }] }
    const asked = await graph.invoke(input, config)
    expect(JSON.stringify(asked)).toContain('What would you like to know about it?')
    const { messages } = await graph.invoke(new Command({ resume: 'How does caffeine work?' }), config)
    expect(messages.at(-1)!.text).toContain('blocking the receptors of adenosine')
  })

  test('starts two researchers who ask at the same time', async () => {
    const graph = deepAgent(models)
    graph.checkpointer = new MemorySaver()
    const content = 'Research coffee, and ask me what exactly; research streaming, and ask me what exactly'
    const config = { configurable: { thread_id: 'two' } }
    const asked: object = await graph.invoke({ messages: [{ role: 'user', content }] }, config)
    const question = { value: { question: 'What would you like to know about it?' } }
    expect(asked).toMatchObject({ __interrupt__: [question, question] })
  })

  test('says what it was sent, with name, type and size', async () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA', metadata: { filename: 'dot.png' } },
      { type: 'file', mimeType: 'text/csv', data: 'A'.repeat(2732), metadata: { name: 'week.csv' } },
      { type: 'image', url: 'https://example.com/cat.jpg' },
    ]
    const { messages } = await deepAgent(models).invoke({ messages: [{ role: 'user', content }] })
    expect(messages.at(-1)!.text).toBe(
      'I got 3 attachments:\n\n- **dot.png** (`image/png`), 3 bytes\n- **week.csv** (`text/csv`), 2.0 KiB\n' +
        '- **a nameless image** (`image`), at https://example.com/cat.jpg',
    )
  })

  test('draws a picture, and writes a file', async () => {
    const media = async (content: string) => {
      const { messages } = await deepAgent(models).invoke({ messages: [{ role: 'user', content }] })
      return messages.at(-1)!.content.at(-1) as { type: string; mimeType: string; data: string }
    }
    const chart = await media('Draw a chart')
    expect(chart).toMatchObject({
      type: 'image',
      mimeType: 'image/svg+xml',
      metadata: { filename: 'coffee.svg' },
    })
    expect(Buffer.from(chart.data, 'base64').toString()).toMatch(/^<svg .*>Cups<.*>5<.*>Mon<.*<\/svg>$/)
    const table = await media('Give me the CSV')
    expect(table).toMatchObject({ type: 'file', mimeType: 'text/csv', metadata: { filename: 'coffee.csv' } })
    expect(Buffer.from(table.data, 'base64').toString()).toMatch(/^day,cups\nMonday,3\n/)
  })

  test('writes a report into a file of its state', async () => {
    const { files, messages } = await deepAgent(models).invoke({
      messages: [{ role: 'user', content: 'Write a report about coffee' }],
    })
    expect(artifactsOf(files, [])).toEqual([
      { kind: 'text', name: 'coffee.md', text: expect.stringMatching(/^# Report: coffee\n\n## Coffee\n/) },
    ])
    expect(messages.at(-1)!.text).toContain('`coffee.md`')
  })

  test('writes all kinds of Markdown, thoughts first', async () => {
    const { messages } = await deepAgent(models).invoke({
      messages: [{ role: 'user', content: 'Show me what Markdown can do' }],
    })
    const [thought, text] = messages.at(-1)!.content as { type: string; text: string }[]
    expect(thought!.type).toBe('reasoning')
    for (const sign of ['## ', '### ', '|---|', '```ts\n', '**bold**', '1. ', '](https://', '> '])
      expect(text!.text).toContain(sign)
  })

  test('tells a long story of several hundred words, and fails on purpose', async () => {
    expect((await ask('Tell me a long story')).answer.split(/\s+/).length).toBeGreaterThan(500)
    await expect(ask('Please fail on purpose')).rejects.toThrow('The model was asked to fail.')
  })

  test('answers small talk itself', async () => {
    const { calls, answer } = await ask('Hi there!')
    expect(calls).toEqual([])
    expect(answer).toContain('two helpers')
  })
})

describe('the secretary', () => {
  const start = async (content: string) => {
    const graph = secretaryAgent(models)
    graph.checkpointer = new MemorySaver()
    const config = { configurable: { thread_id: content } }
    const result = await graph.invoke({ messages: [{ role: 'user', content }] }, config)
    const decideAll = async (decisions: readonly object[]) => {
      const { messages } = await graph.invoke(new Command({ resume: { decisions } }), config)
      return messages.at(-1)!.text
    }
    return { result, decideAll, decide: (decision: object) => decideAll([decision]) }
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

  test('asks about two letters at once, and sends those that are approved', async () => {
    const { result, decideAll } = await start(
      'Email ada@example.com and bob@example.com that lunch is at noon',
    )
    expect(JSON.stringify(result)).toMatch(/"actionRequests":\[.*ada@example\.com.*bob@example\.com/)
    expect(await decideAll([{ type: 'approve' }, { type: 'approve' }])).toBe(
      '- The letter to ada@example.com lies in the outbox (1 so far).\n' +
        '- The letter to bob@example.com lies in the outbox (2 so far).',
    )
    expect(outbox.map(({ body }) => body)).toEqual(['Lunch is at noon', 'Lunch is at noon'])
  })

  test('asks again about the letter that was dropped because the other one was rejected', async () => {
    const { decideAll } = await start('Email bob@example.com and ada@example.com about tea')
    expect(await decideAll([{ type: 'reject', message: 'Not Bob.' }, { type: 'approve' }])).toBe(
      'I will write to ada@example.com.',
    )
    expect(await decideAll([{ type: 'approve' }])).toBe(
      '- All right, I did not send it.\n- The letter to ada@example.com lies in the outbox (1 so far).',
    )
    expect(outbox.map(({ to }) => to)).toEqual(['ada@example.com'])
  })

  test('asks for the address when there is none', async () => {
    const { result } = await start('Send a letter')
    expect(result.messages.at(-1)!.text).toContain('To whom?')
  })
})

function callsOf(message: BaseMessage): Record<string, unknown>[] {
  return AIMessage.isInstance(message) ? (message.tool_calls ?? []).map((call) => call.args) : []
}
