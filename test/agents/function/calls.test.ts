import { expect, test } from 'vitest'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { decodeMessage, type Message, textOf } from '../../../src/messages/index.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import { gate } from '../../kit/wait.ts'
import { ask, collect, messagesIn, newThread, outline, run, stateOf } from '../run.ts'

const dataOf = (events: readonly AgentEvent[], method: string, kind?: string) =>
  events
    .filter((event) => event.method === method)
    .map(({ namespace, data }) => ({ namespace, ...(data as Record<string, unknown>) }))
    .filter((data) => kind === undefined || (data as Record<string, unknown>).event === kind)

test('a tool sends its call, events and answer in the order of a tool-calling graph', async () => {
  const agent = defineAgent({
    async run({ tool, message }) {
      const sum = await tool('add', { a: 2, b: 3 }, async ({ output }) => {
        await output('adding')
        await output({ half: true })
        return { sum: 5 }
      })
      await message(`It is ${sum.sum}.`)
    },
  })
  const thread = newThread()
  const events = await run(agent, thread, ask)
  expect(outline(events)).toEqual([
    'checkpoints [] input',
    'values []',
    'tasks []',
    'messages [] message-start',
    'messages [] content-block-start',
    'messages [] content-block-finish',
    'messages [] message-finish',
    'updates [] agent',
    'checkpoints [] loop',
    'values []',
    'lifecycle [tools] started',
    'tools [tools] tool-started',
    'tools [tools] tool-output-delta',
    'tools [tools] tool-output-delta',
    'tools [tools] tool-finished',
    'updates [] agent',
    'lifecycle [tools] completed',
    'checkpoints [] loop',
    'values []',
    'messages [] message-start',
    'messages [] content-block-start',
    'messages [] content-block-delta',
    'messages [] content-block-finish',
    'messages [] message-finish',
    'updates [] agent',
    'tasks []',
    'checkpoints [] loop',
    'values []',
  ])
  const [human, call, answer, text] = messagesIn((await stateOf(agent, thread)).values)
  expect(human).toMatchObject({ type: 'human', id: 'h' })
  expect(call).toMatchObject({ type: 'ai', tool_calls: [{ name: 'add', args: { a: 2, b: 3 } }] })
  const { id } = call!.tool_calls![0]!
  expect(id).toMatch(/^[\w-]{1,40}$/)
  expect(answer).toMatchObject({
    type: 'tool',
    tool_call_id: id,
    name: 'add',
    status: 'success',
    content: '{"sum":5}',
  })
  expect(text).toMatchObject({ type: 'ai', content: 'It is 5.' })
  const tools = dataOf(events, 'tools')
  expect(tools[0]).toMatchObject({ tool_call_id: id, tool_name: 'add', input: '{"a":2,"b":3}' })
  expect(tools[0]!.namespace).toEqual([expect.stringMatching(/^tools:[0-9a-f-]{36}$/)])
  expect(tools.slice(1, 3).map((data) => (data as { delta?: unknown }).delta)).toEqual([
    'adding',
    '{"half":true}',
  ])
  expect(tools[3]).toMatchObject({ tool_call_id: id, output: answer })
})

test('a tool that throws adds an error result to the state and rejects with its error', async () => {
  const agent = defineAgent({
    async run({ tool, message }) {
      const failure = await tool('explode', {}, () => {
        throw new RangeError('kaput')
      }).catch((error: unknown) => error)
      await message(`Sorry: ${(failure as Error).name}`)
    },
  })
  const thread = newThread()
  const events = await run(agent, thread, ask)
  expect(dataOf(events, 'tools', 'tool-error')).toMatchObject([{ message: 'kaput' }])
  expect(dataOf(events, 'tools', 'tool-finished')).toEqual([])
  expect(
    messagesIn((await stateOf(agent, thread)).values)
      .map(({ content, status }) => [content, status])
      .slice(2),
  ).toEqual([
    ['kaput', 'error'],
    ['Sorry: RangeError', undefined],
  ])
})

test('calls in one turn of the event loop share an assistant message, and their answers follow it', async () => {
  const hold = gate()
  const agent = defineAgent({
    async run({ tool }) {
      const slow = tool('slow', {}, () => hold.opened)
      const fast = tool('fast', {}, () => 'quick')
      await fast
      // The third call begins while the first one runs. It gets its own assistant message, and its answer follows that message.
      const late = tool('late', {}, () => 'late')
      await late
      hold.open()
      await slow
    },
  })
  const thread = newThread()
  const events = await run(agent, thread, ask)
  const messages = messagesIn((await stateOf(agent, thread)).values)
  expect(
    messages.map(({ type, name, tool_calls: calls }) => [type, name ?? calls?.map((call) => call.name)]),
  ).toEqual([
    ['human', undefined],
    ['ai', ['slow', 'fast']],
    ['tool', 'fast'],
    ['tool', 'slow'],
    ['ai', ['late']],
    ['tool', 'late'],
  ])
  const namespaces = dataOf(events, 'tools', 'tool-started').map(({ namespace }) => namespace[0])
  expect(new Set(namespaces).size).toBe(3)
})

test('a tool call that a message already has gets no second assistant message', async () => {
  const agent = defineAgent({
    async run({ message, tool }) {
      const m = message()
      await m.reasoning('I need to look.')
      await m.text('Looking.')
      const one = await m.toolCall({ name: 'look', args: { at: 'x' } })
      const two = await m.toolCall({ id: 'given', name: 'look', args: { at: 'y' } })
      await m.end()
      await Promise.all(
        [one, two].map((call) =>
          tool(call.name, call.args, () => `saw ${call.args.at}`, { toolCallId: call.id }),
        ),
      )
    },
  })
  const thread = newThread()
  const events = await run(agent, thread, ask)
  const messages = messagesIn((await stateOf(agent, thread)).values)
  expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'tool'])
  expect(messages[1]!.tool_calls!.map(({ id }) => id)).toEqual([messages[2]!.tool_call_id, 'given'])
  expect(messages.slice(2).map(({ content }) => content)).toEqual(['saw x', 'saw y'])
  // The call is in the state before its tool starts.
  const started = events.findIndex(({ method }) => method === 'tools')
  const before = events.slice(0, started).findLast(({ method }) => method === 'values')
  expect(messagesIn(before?.data)).toHaveLength(2)
})

const deep = defineAgent({
  async run({ subagent, message }) {
    const [found, sum] = await Promise.all([
      subagent('researcher', 'Find x', async ({ message: say, tool, custom }) => {
        await say('Searching.')
        await custom('progress', { percent: 50 })
        const hit = await tool('search', { q: 'x' }, () => 'x is 42')
        await say(`I found: ${hit}`)
      }),
      subagent('math-whiz', 'Add up', async ({ messages, setState }) => {
        await setState({ carry: 1 })
        return { total: 3, task: textOf(messages[0]!) }
      }),
    ])
    await message(`${found} ${JSON.stringify(sum)}`)
  },
})

test('a subagent has its own task call, namespace, state and events, which make its card', async () => {
  const thread = newThread()
  const events = await run(deep, thread, ask)
  const started = dataOf(events, 'tools', 'tool-started').filter(
    (data) => (data as { tool_name?: unknown }).tool_name === 'task',
  )
  expect(started.map((data) => JSON.parse((data as unknown as { input: string }).input))).toEqual([
    { description: 'Find x', subagent_type: 'researcher' },
    { description: 'Add up', subagent_type: 'math-whiz' },
  ])
  const [researcher] = started.map(({ namespace }) => namespace)
  const own = events.filter(({ namespace }) => namespace[0] === researcher![0])
  expect(outline(own)).toEqual([
    'lifecycle [tools] started',
    'tools [tools] tool-started',
    'checkpoints [tools] input',
    'values [tools]',
    'messages [tools] message-start',
    'messages [tools] content-block-start',
    'messages [tools] content-block-delta',
    'messages [tools] content-block-finish',
    'messages [tools] message-finish',
    'custom [tools]',
    'updates [tools] agent',
    'checkpoints [tools] loop',
    'values [tools]',
    'messages [tools] message-start',
    'messages [tools] content-block-start',
    'messages [tools] content-block-finish',
    'messages [tools] message-finish',
    'updates [tools] agent',
    'checkpoints [tools] loop',
    'values [tools]',
    'lifecycle [tools|tools] started',
    'tools [tools|tools] tool-started',
    'tools [tools|tools] tool-finished',
    'updates [tools] agent',
    'lifecycle [tools|tools] completed',
    'checkpoints [tools] loop',
    'values [tools]',
    'messages [tools] message-start',
    'messages [tools] content-block-start',
    'messages [tools] content-block-delta',
    'messages [tools] content-block-finish',
    'messages [tools] message-finish',
    'updates [tools] agent',
    'checkpoints [tools] loop',
    'values [tools]',
    'tools [tools] tool-finished',
    'lifecycle [tools] completed',
  ])
  const first = own.find(({ method }) => method === 'values')
  expect(messagesIn(first?.data)[0]).toMatchObject({ type: 'human', content: 'Find x' })
  const answers = messagesIn((await stateOf(deep, thread)).values)
  expect(answers.map(({ type, content }) => (type === 'tool' ? content : type))).toEqual([
    'human',
    'ai',
    expect.any(String),
    expect.any(String),
    'ai',
  ])
  expect(answers.at(-1)!.content).toBe('I found: x is 42 {"total":3,"task":"Add up"}')
})

test('every checkpoint comes right before its values, and every namespace starts before its first event', async () => {
  const events = await run(deep, newThread(), ask)
  for (const [at, event] of events.entries()) {
    if (event.method !== 'checkpoints') continue
    expect(events[at + 1]).toMatchObject({ method: 'values', namespace: event.namespace })
  }
  const opened = new Set([''])
  for (const { method, namespace, data } of events) {
    const key = namespace.join('|')
    if (method === 'lifecycle' && (data as { event: string }).event === 'started') opened.add(key)
    expect(opened).toContain(key)
  }
})

test('clients of a finished thread find the state of a subagent through its task call', async () => {
  const thread = newThread()
  await run(deep, thread, ask)
  const history = await collect(deep.getHistory(thread))
  const calls = messagesIn(history[0]!.values)[1]!.tool_calls!
  for (const [index, { id, args }] of calls.entries()) {
    const task = history
      .flatMap(({ tasks }) => tasks)
      .find(
        ({ path, result }) =>
          path[0] === '__pregel_push' && messagesIn(result).some((one) => one.tool_call_id === id),
      )
    expect(task).toMatchObject({ name: 'tools', path: ['__pregel_push', index] })
    const [own] = await collect(
      deep.getHistory({ ...thread, checkpointNs: `tools:${task!.id}` }, { limit: 1 }),
    )
    expect(messagesIn(own!.values)[0]!.content).toBe((args as { description: string }).description)
    expect(own!.metadata).toMatchObject({ parents: { '': expect.any(String) } })
    expect(own!.next).toEqual([])
  }
})

test('two messages that are open at once have two nodes, and a later message has the first node again', async () => {
  const agent = defineAgent({
    async run({ message }) {
      const one = message()
      const two = message({ name: 'second' })
      await one.text('A')
      await two.text('B')
      await one.text('a')
      await two.end()
      await one.end()
      await message('C')
    },
  })
  const thread = newThread()
  const events = await run(agent, thread, ask)
  const nodes = events.filter(
    ({ method, data }) => method === 'messages' && (data as { event: string }).event === 'message-start',
  )
  expect(nodes.map(({ node }) => node)).toEqual(['agent', 'agent:2', 'agent'])
  const messages = messagesIn((await stateOf(agent, thread)).values)
  expect(messages.slice(1).map(({ content, name }) => [content, name])).toEqual([
    ['B', 'second'],
    ['Aa', undefined],
    ['C', undefined],
  ])
})

test('a message keeps blocks of many kinds, its usage and its metadata', async () => {
  let written: Message | undefined
  const agent = defineAgent({
    async run({ message }) {
      const m = message({ id: 'mine' })
      await m.text('Look: ')
      await m.block({ type: 'image', base64: 'AAAA', mimeType: 'image/png' })
      await m.text('and ')
      await m.text('see.')
      await m.usage({ inputTokens: 1, outputTokens: 1, totalTokens: 2 })
      written = await m.end({ metadata: { model: 'x' } })
      expect(() => m.text('more')).toThrow('has ended')
      expect(await m.end()).toBe(written)
    },
  })
  const thread = newThread()
  await run(agent, thread, ask)
  expect(written).toEqual({
    role: 'assistant',
    id: 'mine',
    content: [
      { type: 'text', text: 'Look: ' },
      { type: 'image', base64: 'AAAA', mimeType: 'image/png' },
      { type: 'text', text: 'and see.' },
    ],
    finishReason: 'stop',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    metadata: { model: 'x' },
  })
  expect(decodeMessage(messagesIn((await stateOf(agent, thread)).values)[1])).toEqual(written)
})

test('messages and calls that are open when the function returns are ended', async () => {
  const agent = defineAgent({
    run({ message, tool }) {
      void message().text('half')
      void tool('slow', {}, async () => 'done')
    },
  })
  const thread = newThread()
  await run(agent, thread, ask)
  const messages = messagesIn((await stateOf(agent, thread)).values)
  expect(
    messages.map(({ content, type }) => (type === 'ai' && content !== 'half' ? 'call' : content)),
  ).toEqual(['go', 'call', 'done', 'half'])
})

test('custom events keep their name, and the payload that they had when they were sent', async () => {
  const payload = { step: 1 }
  const agent = defineAgent({
    async run({ custom, tool }) {
      void custom(payload)
      void custom('progress', payload)
      payload.step = 2
      await tool('t', {}, ({ custom: tell }) => tell('inner', new Date(0)))
    },
  })
  const events = await run(agent, newThread(), ask)
  expect(events.filter(({ method }) => method === 'custom')).toEqual([
    { method: 'custom', namespace: [], data: { payload: { step: 1 } } },
    { method: 'custom', namespace: [], data: { name: 'progress', payload: { step: 1 } } },
    { method: 'custom', namespace: [], data: { name: 'inner', payload: '1970-01-01T00:00:00.000Z' } },
  ])
})
