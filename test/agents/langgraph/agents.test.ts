import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { calculator, chat, inOrder, PLANS_IN_A_NODE, researchers, toolAgent } from '../../fixtures/graphs.ts'
import { dataOf, humanInput, lines, of, threadOf } from '../../fixtures/tasks.ts'
import { bundleOf } from '../../kit/bundle.ts'

describe('a tool-calling agent', () => {
  test('sends its events in the recorded order, without root lifecycle', async () => {
    const { events, error } = await threadOf(langgraph(calculator()), memoryCheckpointer()).run(
      humanInput('2+3'),
    )
    expect(error).toBeUndefined()
    expect(lines(events)).toEqual([
      'checkpoints [] step0',
      'values []',
      'tasks [] model_request start',
      'lifecycle [model_request:A] started',
      'messages [model_request:A] message-start',
      'messages [model_request:A] content-block-start text',
      'messages [model_request:A] content-block-delta text-delta',
      'messages [model_request:A] content-block-delta text-delta',
      'messages [model_request:A] content-block-delta text-delta',
      'messages [model_request:A] content-block-finish text',
      'messages [model_request:A] content-block-start tool_call_chunk',
      'messages [model_request:A] content-block-delta block-delta',
      'messages [model_request:A] content-block-delta block-delta',
      'messages [model_request:A] usage',
      'messages [model_request:A] content-block-finish tool_call',
      'messages [model_request:A] message-finish',
      'updates [] model_request',
      'tasks [] model_request result',
      'lifecycle [model_request:A] completed',
      'checkpoints [] step1',
      'values []',
      'tasks [] tools start',
      'lifecycle [tools:B] started',
      'tools [tools:B] tool-started add',
      'tools [tools:B] tool-finished call_add',
      'updates [] tools',
      'tasks [] tools result',
      'lifecycle [tools:B] completed',
      'checkpoints [] step2',
      'values []',
      'tasks [] model_request start',
      'lifecycle [model_request:C] started',
      'messages [model_request:C] message-start',
      'messages [model_request:C] content-block-start text',
      'messages [model_request:C] content-block-delta text-delta',
      'messages [model_request:C] content-block-delta text-delta',
      'messages [model_request:C] content-block-delta text-delta',
      'messages [model_request:C] usage',
      'messages [model_request:C] content-block-finish text',
      'messages [model_request:C] message-finish',
      'updates [] model_request',
      'tasks [] model_request result',
      'lifecycle [model_request:C] completed',
      'checkpoints [] step3',
      'values []',
    ])
  })

  test('sends plain JSON data only, with flat messages that keep their kwargs and usage', async () => {
    const { events } = await threadOf(langgraph(calculator()), memoryCheckpointer()).run(humanInput('2+3'))
    for (const { data } of events) expect(JSON.parse(JSON.stringify(data))).toEqual(data)
    expect(JSON.stringify(events)).not.toContain('"lc":')
    expect(dataOf(events, 'values').at(-1)).toEqual({
      messages: [
        { type: 'human', id: 'h1', content: '2+3', additional_kwargs: {}, response_metadata: {} },
        expect.objectContaining({
          type: 'ai',
          id: 'ai-1',
          tool_calls: [{ type: 'tool_call', id: 'call_add', name: 'add', args: { a: 2, b: 3 } }],
          usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
          additional_kwargs: {},
          response_metadata: expect.objectContaining({ finish_reason: 'stop' }),
        }),
        expect.objectContaining({ type: 'tool', tool_call_id: 'call_add', status: 'success', content: '5' }),
        expect.objectContaining({ type: 'ai', id: 'ai-2' }),
      ],
    })
    expect(dataOf(events, 'tools')).toEqual([
      { event: 'tool-started', tool_call_id: 'call_add', tool_name: 'add', input: '{"a":2,"b":3}' },
      {
        event: 'tool-finished',
        tool_call_id: 'call_add',
        output: expect.objectContaining({ type: 'tool', content: '5' }),
      },
    ])
    expect(dataOf(events, 'updates')[1]).toEqual({
      node: 'tools',
      values: { messages: [expect.objectContaining({ type: 'tool', tool_call_id: 'call_add' })] },
    })
    expect(of(events, 'updates').map((event) => event.node)).toEqual([
      'model_request',
      'tools',
      'model_request',
    ])
    expect(dataOf(events, 'tasks').at(-2)).toMatchObject({
      name: 'model_request',
      input: { messages: [{ type: 'human' }, { type: 'ai' }, { type: 'tool' }] },
    })
  })

  test('starts tool calls empty, so that the deltas do not repeat their arguments', async () => {
    const { events } = await threadOf(langgraph(calculator()), memoryCheckpointer()).run(humanInput('2+3'))
    const blocks = dataOf(events, 'messages').filter((data) => data.index === 1)
    expect(blocks.map((data) => data.content ?? data.delta.fields)).toEqual([
      { type: 'tool_call_chunk', id: 'call_add', name: 'add', args: '', index: 1 },
      { type: 'tool_call_chunk', id: 'call_add', name: 'add', args: '{"a":2,' },
      { type: 'tool_call_chunk', id: 'call_add', name: 'add', args: '{"a":2,"b":3}' },
      { type: 'tool_call', id: 'call_add', name: 'add', args: { a: 2, b: 3 } },
    ])
  })

  test('runs two tool calls of one message as two tasks', async () => {
    const agent = toolAgent(
      inOrder(
        {
          toolCalls: [
            { id: 'c1', name: 'add', args: { a: 1, b: 1 } },
            { id: 'c2', name: 'add', args: { a: 2, b: 2 } },
          ],
        },
        { text: 'Two and four.' },
      ),
    )
    const { events } = await threadOf(langgraph(agent), memoryCheckpointer()).run(humanInput('both'))
    const tools = of(events, 'tools')
    expect(new Set(tools.map((event) => event.namespace[0])).size).toBe(2)
    for (const id of ['c1', 'c2']) {
      const own = tools.filter((event) => (event.data as { tool_call_id: string }).tool_call_id === id)
      expect(own.map((event) => (event.data as { event: string }).event)).toEqual([
        'tool-started',
        'tool-finished',
      ])
      expect(own[0]!.namespace).toEqual(own[1]!.namespace)
    }
    const { messages } = dataOf(events, 'values').at(-1)
    expect(messages.filter((message: { type: string }) => message.type === 'tool')).toMatchObject([
      { tool_call_id: 'c1', content: '2' },
      { tool_call_id: 'c2', content: '4' },
    ])
  })

  test('sends the writes of tools as custom events of the root', async () => {
    const agent = toolAgent(inOrder({ toolCalls: [{ id: 'c1', name: 'report', args: {} }] }, { text: 'ok' }))
    const { events } = await threadOf(langgraph(agent), memoryCheckpointer()).run(humanInput('report'))
    expect(of(events, 'custom').map(({ namespace, data }) => ({ namespace, data }))).toEqual([
      { namespace: [], data: { name: 'progress', payload: { done: 1 } } },
      { namespace: [], data: { payload: 'halfway' } },
    ])
  })

  test('continues after a failed tool', async () => {
    const agent = toolAgent(
      inOrder({ toolCalls: [{ id: 'c1', name: 'broken', args: {} }] }, { text: 'Sorry.' }),
    )
    const { events, error } = await threadOf(langgraph(agent), memoryCheckpointer()).run(humanInput('break'))
    expect(error).toBeUndefined()
    expect(dataOf(events, 'tools')[1]).toEqual({
      event: 'tool-error',
      tool_call_id: 'c1',
      message: 'the tool is broken',
    })
    expect(dataOf(events, 'values').at(-1).messages.at(-1)).toMatchObject({ content: [{ text: 'Sorry.' }] })
  })
})

describe('a deep agent with a subagent', () => {
  test('keeps the namespaces of the subagent, and sends its values with the task first', async () => {
    const { events, error } = await threadOf(langgraph(researchers()), memoryCheckpointer()).run(
      humanInput('q'),
    )
    expect(error).toBeUndefined()
    const inside = lines(events).filter((line) => /\[tools:|tool-/.test(line))
    expect(inside.filter((line) => !/^(tasks|updates|messages)/.test(line))).toEqual([
      'lifecycle [tools:B] started',
      'tools [tools:B] tool-started task',
      'checkpoints [tools:B] step0',
      'values [tools:B]',
      'lifecycle [tools:B|model_request:C] started',
      'lifecycle [tools:B|model_request:C] completed',
      'checkpoints [tools:B] step3',
      'values [tools:B]',
      'lifecycle [tools:B|tools:D] started',
      'tools [tools:B|tools:D] tool-started add',
      'tools [tools:B|tools:D] tool-finished call_look',
      'lifecycle [tools:B|tools:D] completed',
      `checkpoints [tools:B] step${PLANS_IN_A_NODE ? 5 : 4}`,
      'values [tools:B]',
      'lifecycle [tools:B|model_request:E] started',
      'lifecycle [tools:B|model_request:E] completed',
      `checkpoints [tools:B] step${PLANS_IN_A_NODE ? 6 : 5}`,
      'values [tools:B]',
      'tools [tools:B] tool-finished call_task',
      'lifecycle [tools:B] completed',
    ])
    const values = of(events, 'values').filter((event) => event.namespace.length === 1)
    expect(values[0]!.data).toMatchObject({ messages: [{ type: 'human', content: 'Find x' }] })
    expect(dataOf(events, 'tools').at(-1)).toMatchObject({
      event: 'tool-finished',
      output: { lg_name: 'Command', update: { messages: [{ type: 'tool', content: 'x is 5' }] } },
    })
    expect(JSON.stringify(events)).not.toContain('"lc":')
  })

  test('sends every checkpoint right before the values of its namespace', async () => {
    const { events } = await threadOf(langgraph(researchers()), memoryCheckpointer()).run(humanInput('q'))
    const paired = events.flatMap((event, at) =>
      event.method === 'checkpoints' ? [[event.namespace, events[at + 1]]] : [],
    )
    expect(paired.length).toBe(PLANS_IN_A_NODE ? 12 : 10)
    for (const [namespace, next] of paired) expect(next).toMatchObject({ method: 'values', namespace })
  })
})

describe('a message graph without an agent', () => {
  test('keeps the message ids of the client over two turns', async () => {
    const thread = threadOf(langgraph(chat()), memoryCheckpointer())
    await thread.run(humanInput('one', 'h1'))
    await thread.run(humanInput('two', 'h2'))
    expect((await thread.state())!.values.messages).toMatchObject([
      { type: 'human', id: 'h1', content: 'one' },
      { type: 'ai', id: 'ai-1' },
      { type: 'human', id: 'h2', content: 'two' },
      { type: 'ai', id: 'ai-2' },
    ])
  })

  test.each([
    ['type and content', { type: 'human', content: 'hi', id: 'h' }],
    ['role and content', { role: 'user', content: 'hi', id: 'h' }],
    [
      'a serialized LangChain object',
      {
        lc: 1,
        type: 'constructor',
        id: ['langchain_core', 'messages', 'HumanMessage'],
        kwargs: { content: 'hi', id: 'h' },
      },
    ],
  ])('gets an input as %s unchanged', async (_, message) => {
    const input = { messages: [Object.freeze(message)] }
    const { events, error } = await threadOf(langgraph(chat()), memoryCheckpointer()).run({
      kind: 'input',
      value: input,
    })
    expect(error).toBeUndefined()
    expect(dataOf(events, 'values')[0]).toMatchObject({
      messages: [{ type: 'human', content: 'hi', id: 'h' }],
    })
  })
})

test('failing tools, subagents and savers never end the process', async () => {
  const script = await bundleOf('test/fixtures/failing-tools.ts')
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  expect(output.trim().split('\n')).toEqual([
    'a broken tool: ended',
    'a broken tool of a subagent: threw the tool is broken',
    'a broken model of a subagent: threw the model is broken',
    'an unhandled tool error: threw the tool is broken',
    'a cancelled agent: threw stop',
    'savers that fail: threw the disk is full',
  ])
  expect(code).toBe(0)
})
