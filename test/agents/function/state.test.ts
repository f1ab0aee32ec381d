import { HumanMessage } from '@langchain/core/messages'
import { MemorySaver } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AgentInputError } from '../../../src/agents/errors.ts'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { textOf } from '../../../src/messages/index.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { answers, collect, input, messagesIn, newThread, run, stateOf } from '../run.ts'

const user = (content: string, id?: string) =>
  input({ messages: [{ role: 'user', content, ...(id && { id }) }] })

const counting = defineAgent({
  async run({ state, messages, message }) {
    const turns = ((state.turns as number | undefined) ?? 0) + 1
    await message(`${turns}: ${textOf(messages.at(-1)!)}`)
    return { turns }
  },
})

describe.each([
  ['our memory checkpointer', memoryCheckpointer],
  ['LangGraph MemorySaver', () => new MemorySaver()],
])('over %s', (_, makeCheckpointer) => {
  const thread = () => newThread(makeCheckpointer())
  const texts = (values: unknown) => messagesIn(values).map(({ content }) => content)

  test('the next run of a thread continues from its state', async () => {
    const at = thread()
    await run(counting, at, user('a'))
    await run(counting, at, user('b'))
    const state = await stateOf(counting, at)
    expect(texts(state.values)).toEqual(['a', '1: a', 'b', '2: b'])
    expect(state.values.turns).toBe(2)
    expect(state.createdAt).toMatch(/^\d{4}-.*Z$/)
    expect(state.metadata).toMatchObject({
      source: 'loop',
      step: 3,
      parents: {},
      thread_id: at.threadId,
      run_id: expect.any(String),
    })
  })

  test('the history is a chain of checkpoints, newest first', async () => {
    const at = thread()
    await run(counting, at, user('a'))
    await run(counting, at, user('b'))
    const history = await collect(counting.getHistory(at))
    expect(history.map(({ metadata, next }) => [metadata.source, metadata.step, next])).toEqual([
      ['loop', 3, []],
      ['input', 2, ['agent']],
      ['loop', 1, []],
      ['input', 0, ['agent']],
    ])
    for (const [at, snapshot] of history.entries()) {
      expect(snapshot.parentCheckpoint?.checkpointId).toBe(history[at + 1]?.checkpoint.checkpointId)
    }
    const [, second, third] = history
    const id = second!.checkpoint.checkpointId
    expect(await collect(counting.getHistory(at, { limit: 1, before: id }))).toEqual([third])
    expect(await collect(counting.getHistory(at, { filter: { source: 'input' } }))).toHaveLength(2)
    expect(await collect(counting.getHistory({ ...at, checkpointId: id }, { limit: 2 }))).toEqual([
      second,
      third,
    ])
    expect(await collect(counting.getHistory(at, { limit: 0 }))).toEqual([])
    expect(await counting.getState({ ...at, checkpointId: id })).toEqual(second)
  })

  test('checkpoint ids rise, and the events name the parent of each checkpoint', async () => {
    const at = thread()
    const events = [...(await run(counting, at, user('a'))), ...(await run(counting, at, user('b')))]
    const checkpoints = events
      .filter(({ method }) => method === 'checkpoints')
      .map(({ data }) => data as { id: string; parent_id?: string })
    expect(checkpoints.map(({ id }) => id)).toEqual(checkpoints.map(({ id }) => id).toSorted())
    expect(checkpoints.map(({ parent_id: parent }) => parent)).toEqual([
      undefined,
      ...checkpoints.map(({ id }) => id).slice(0, -1),
    ])
  })

  test('a fork with an input continues from its checkpoint and leaves the other branch unchanged', async () => {
    const at = thread()
    await run(counting, at, user('a'))
    const fork = (await stateOf(counting, at)).checkpoint.checkpointId
    await run(counting, at, user('b'))
    const before = await collect(counting.getHistory(at))
    await run(counting, at, user('c'), { checkpointId: fork })
    const state = await stateOf(counting, at)
    expect(texts(state.values)).toEqual(['a', '1: a', 'c', '2: c'])
    const after = await collect(counting.getHistory(at))
    expect(after.slice(2)).toEqual(before)
    expect(after[1]!.parentCheckpoint?.checkpointId).toBe(fork)
    expect(after[1]!.metadata.step).toBe(2)
  })

  test('a fork without an input runs the function again as a new run', async () => {
    const at = thread()
    await run(counting, at, user('a'))
    const [end, start] = await collect(counting.getHistory(at))
    const events = await run(counting, at, input(null), { checkpointId: start!.checkpoint.checkpointId })
    expect(events[0]).toMatchObject({ data: { source: 'fork', parent_id: start!.checkpoint.checkpointId } })
    const state = await stateOf(counting, at)
    expect(texts(state.values)).toEqual(['a', '1: a'])
    expect(messagesIn(state.values)[1]!.id).not.toBe(messagesIn(end!.values)[1]!.id)
    expect(messagesIn(state.values)[0]!.id).toBe(messagesIn(end!.values)[0]!.id)
  })

  test('updateState writes a checkpoint behind the newest or any other checkpoint', async () => {
    const at = thread()
    const { checkpointId } = await counting.updateState(at, {
      values: { turns: 41, messages: [{ role: 'user', content: 'x', id: 'x' }] },
    })
    const fresh = await stateOf(counting, at)
    expect(fresh).toMatchObject({
      next: [],
      tasks: [],
      metadata: { source: 'update', step: 0 },
      checkpoint: { checkpointId },
    })
    await run(counting, at, user('a'))
    expect((await stateOf(counting, at)).values.turns).toBe(42)
    await counting.updateState(
      { ...at, checkpointId },
      { values: { messages: [{ type: 'remove', id: 'x' }] } },
    )
    const state = await stateOf(counting, at)
    expect(state.values).toEqual({ turns: 41, messages: [] })
    expect(state.parentCheckpoint?.checkpointId).toBe(checkpointId)
  })

  test('a failed run keeps its state and can be continued', async () => {
    let broken = true
    const agent = defineAgent({
      async run({ message, subagent, custom }) {
        await message('Started.')
        await custom('phase', 1)
        const work = subagent('helper', 'Help', async ({ message: say, custom: tell }) => {
          await say('Helping.')
          await tell('phase', 2)
          if (broken) throw new Error('kaput')
        })
        await work
        await message('Done.')
      },
    })
    const at = thread()
    await expect(run(agent, at, user('a'))).rejects.toThrow('kaput')
    const failed = await stateOf(agent, at)
    expect(failed).toMatchObject({
      next: ['agent'],
      tasks: [{ name: 'agent', error: 'kaput', interrupts: [] }],
    })
    expect(texts(failed.values)).toEqual(['a', 'Started.', expect.any(Array), 'kaput'])
    broken = false
    const events = await run(agent, at, input(null))
    expect(events.filter(({ method }) => method === 'custom')).toEqual([])
    const starts = events.filter(({ data }) => (data as { event?: string }).event === 'message-start')
    expect(starts).toHaveLength(1)
    expect(texts((await stateOf(agent, at)).values)).toEqual([
      'a',
      'Started.',
      expect.any(Array),
      'Helping.',
      'Done.',
    ])
  })
})

test('an update as the node ends an unfinished run, and an update as the start is an input', async () => {
  const at = newThread()
  const waiting = defineAgent({ run: ({ interrupt }) => interrupt('?').then(() => ({ done: true })) })
  await run(waiting, at, user('a'))
  await waiting.updateState(at, { values: { note: 1 } })
  const state = await stateOf(waiting, at)
  expect(state.next).toEqual(['agent'])
  expect(state.tasks[0]!.interrupts).toHaveLength(1)
  await waiting.updateState(at, { values: { note: 2 }, asNode: 'agent' })
  expect(await stateOf(waiting, at)).toMatchObject({ next: [], tasks: [], values: { note: 2 } })
  await waiting.updateState(at, { values: { messages: ['b'] }, asNode: '__start__' })
  expect((await stateOf(waiting, at)).next).toEqual(['agent'])
  const events = await run(waiting, at, input(null))
  expect(events.some(({ method }) => method === 'input.requested')).toBe(true)
  await expect(waiting.updateState(at, { values: {}, asNode: 'tools' })).rejects.toThrow('"tools"')
})

test('an interrupt that is pending when the state is updated can still be answered', async () => {
  const agent = defineAgent({
    async run(context) {
      const answer = await context.interrupt<string>('?')
      await context.message(`${answer} ${context.state.note}`)
    },
  })
  const at = newThread()
  await run(agent, at, user('a'))
  await agent.updateState(at, { values: { note: 'noted' } })
  const { id } = (await stateOf(agent, at)).tasks[0]!.interrupts[0]!
  await run(agent, at, { kind: 'resume', answers: { [id]: 'yes' } })
  expect(messagesIn((await stateOf(agent, at)).values).at(-1)!.content).toBe('yes noted')
})

test('a null input is refused on an empty thread, and shows the state of an idle thread', async () => {
  await expect(run(counting, newThread(), input(null))).rejects.toThrow(AgentInputError)
  const at = newThread()
  await run(counting, at, user('a'))
  const events = await run(counting, at, input(null))
  expect(events.map(({ method }) => method)).toEqual(['checkpoints', 'values'])
})

test('an unknown checkpoint is refused and starts no empty thread', async () => {
  const at = newThread()
  const unknown = { checkpointId: '1f000000-0000-6000-8000-000000000000' }
  await expect(run(counting, at, user('a'), unknown)).rejects.toThrow(AgentInputError)
  await expect(counting.updateState({ ...at, ...unknown }, { values: {} })).rejects.toThrow(AgentInputError)
  expect(await counting.getState({ ...at, ...unknown })).toBeUndefined()
  expect(await counting.getState(at)).toBeUndefined()
})

test('setState replaces, removes and refuses keys, merges messages, and keeps the state frozen', async () => {
  let frozen = false
  const agent = defineAgent({
    async run(context) {
      await context.setState({ a: 1, b: new Date(0), list: [1] })
      await context.setState({ a: undefined, list: [2] })
      await context.setState({
        messages: [
          { role: 'user', content: 'replaced', id: 'h' },
          new HumanMessage({ content: 'live', id: 'l' }),
          { role: 'assistant', content: [{ type: 'toolCall', id: 'c', name: 'f', args: {} }] },
        ],
      })
      await context.setState({ messages: { type: 'remove', id: 'l' } })
      expect(() => context.setState({ __input__: 1 })).toThrow('__input__')
      expect(() => context.setState({ messages: [{ wrong: true }] })).toThrow('messages[0]')
      frozen = Object.isFrozen(context.state) && Object.isFrozen(context.state.messages)
      return { returned: true }
    },
  })
  const at = newThread()
  await run(agent, at, user('a', 'h'))
  const { values } = await stateOf(agent, at)
  expect(values).toMatchObject({ b: '1970-01-01T00:00:00.000Z', list: [2], returned: true })
  expect(values).not.toHaveProperty('a')
  expect(messagesIn(values).map(({ id, content, type }) => [type, content, id === 'h'])).toEqual([
    ['human', 'replaced', true],
    ['ai', [{ type: 'tool_call', id: 'c', name: 'f', args: {} }], false],
  ])
  expect(frozen).toBe(true)
})

test('all messages can be removed at once', async () => {
  const agent = defineAgent({
    run: () => ({
      messages: [
        { type: 'remove', id: '__remove_all__' },
        { role: 'assistant', content: 'fresh' },
      ],
    }),
  })
  const at = newThread()
  await run(agent, at, user('a'))
  expect(messagesIn((await stateOf(agent, at)).values).map(({ content }) => content)).toEqual(['fresh'])
})

const topical = defineAgent({
  input: z.object({ topic: z.string().trim(), messages: z.array(z.unknown()).default([]) }),
  async run({ input: { topic }, message }) {
    await message(topic.toUpperCase())
  },
})

test('the function gets the output of the schema, and the state has the input that was sent', async () => {
  const at = newThread()
  await run(topical, at, input({ topic: ' x ', extra: 1 }))
  const { values } = await stateOf(topical, at)
  expect(values).toMatchObject({ topic: ' x ', extra: 1 })
  expect(messagesIn(values)[0]!.content).toBe('X')
})

test.each([
  ['by the schema', topical, { topic: 5 }, 'input.topic'],
  [
    'by the schema at a nested path',
    defineAgent({ input: z.object({ a: z.array(z.object({ b: z.number() })) }), run: () => ({}) }),
    { a: [{ b: 1 }, { b: 'x' }] },
    'input.a.1.b',
  ],
  ['that is not an object', counting, 7, 'object'],
  ['for invalid messages', counting, { messages: 42 }, 'messages[0]'],
  [
    'for one message of several',
    counting,
    { messages: ['a', { role: 'wizard', content: 'b' }] },
    'messages[1]',
  ],
  ['for a reserved key', counting, { __input__: {} }, '__input__'],
])('an input is refused %s, before anything is written', async (_, agent, value, text) => {
  const at = newThread()
  const refused = run(agent, at, input(value))
  await expect(refused).rejects.toThrow(AgentInputError)
  await expect(refused).rejects.toThrow(text)
  await expect(agent.validateInput(value)).rejects.toThrow(text)
  expect(await agent.getState(at)).toBeUndefined()
})

test('messages are accepted in every notation, and the ids of clients are kept', async () => {
  const at = newThread()
  const agent = defineAgent({ run: () => ({}) })
  const envelope = JSON.parse(JSON.stringify(new HumanMessage({ content: 'e', id: 'e' }))) as unknown
  await run(
    agent,
    at,
    input({
      messages: [
        'a',
        { role: 'user', content: 'b', id: 'b' },
        { type: 'human', content: 'c', id: 'c' },
        envelope,
      ],
    }),
  )
  await run(agent, at, input('just text'))
  const messages = messagesIn((await stateOf(agent, at)).values)
  expect(messages.map(({ type, content }) => `${type} ${content}`)).toEqual([
    'human a',
    'human b',
    'human c',
    'human e',
    'human just text',
  ])
  expect(messages.map(({ id }) => id).slice(1, 4)).toEqual(['b', 'c', 'e'])
  expect(messages.every(({ id }) => id.length > 0)).toBe(true)
})

test('an agent can do without messages', async () => {
  const agent = defineAgent({ input: z.number(), run: ({ input: n }) => ({ double: n * 2 }) })
  const at = newThread()
  await run(agent, at, input(21))
  expect((await stateOf(agent, at)).values).toEqual({ double: 42 })
})

test('a text that the function returns is its answer', async () => {
  const agent = defineAgent({ run: () => 'Hello' })
  const at = newThread()
  const events = await run(agent, at, user('a'))
  expect(events.some(({ method }) => method === 'messages')).toBe(true)
  const { values } = await stateOf(agent, at)
  expect(messagesIn(values).map(({ type, content }) => `${type} ${content}`)).toEqual(['human a', 'ai Hello'])
  expect(Object.keys(values)).toEqual(['messages'])
})

test('a returned text answers after a question, once', async () => {
  const agent = defineAgent({
    async run({ interrupt, message }) {
      await message('Wait.')
      return `You said ${await interrupt('What?')}`
    },
  })
  const at = newThread()
  const asked = await run(agent, at, user('a'))
  const [id] = asked.flatMap((event) => (event.method === 'input.requested' ? event.data.interrupt_id : []))
  await run(agent, at, answers({ [id!]: 'yes' }))
  const messages = messagesIn((await stateOf(agent, at)).values)
  expect(messages.map(({ content }) => content)).toEqual(['a', 'Wait.', 'You said yes'])
})

const texts = async (agent: Parameters<typeof run>[0]) => {
  const thread = newThread()
  const events = await run(agent, thread, user('a'))
  const { values } = await stateOf(agent, thread)
  const starts = events.filter(({ data }) => Object(data).event === 'message-start').length
  return { contents: messagesIn(values).map(({ content }) => content), starts }
}

test('pieces that a generator yields are one message, and a message that it yields ends it', async () => {
  const agent = defineAgent({
    async *run({ message }) {
      yield 'Hel'
      yield 'lo'
      yield message('Whole.')
      yield { role: 'assistant', content: [{ type: 'text', text: 'Of parts.' }] }
      yield 'The '
      yield 'end.'
    },
  })
  expect(await texts(agent)).toEqual({
    contents: ['a', 'Hello', 'Whole.', 'Of parts.', 'The end.'],
    starts: 4,
  })
})

test('what a generator returns is an answer as well, or a change of the state', async () => {
  const twice = defineAgent({
    *run() {
      yield 'One.'
      return 'Two.'
    },
  })
  expect(await texts(twice)).toEqual({ contents: ['a', 'One.', 'Two.'], starts: 2 })
  const counted = defineAgent({
    async *run() {
      yield 'One.'
      return { count: 1 }
    },
  })
  const thread = newThread()
  await run(counted, thread, user('a'))
  expect((await stateOf(counted, thread)).values).toMatchObject({
    count: 1,
    messages: [{}, { content: 'One.' }],
  })
})

test('a stream of texts and a message are answers of a function', async () => {
  const pieces = () =>
    new ReadableStream<string>({
      start(controller) {
        for (const piece of ['Hel', 'lo']) controller.enqueue(piece)
        controller.close()
      },
    })
  const streamed = defineAgent({ run: async () => pieces() })
  expect(await texts(streamed)).toEqual({ contents: ['a', 'Hello'], starts: 1 })
  const content = [{ type: 'text', text: 'Hello' }] as const
  const whole = defineAgent({ run: () => ({ role: 'assistant', content }) })
  expect(await texts(whole)).toEqual({ contents: ['a', 'Hello'], starts: 1 })
})

test('a generator that asks runs again after the answer, and repeats no message', async () => {
  let calls = 0
  const agent = defineAgent({
    async *run({ message, interrupt, tool }) {
      yield message('Let me see.')
      await tool('count', {}, () => ++calls)
      yield 'Now I '
      yield 'ask.'
      const answer = await interrupt<string>('Go on?')
      yield `You said ${answer}.`
    },
  })
  const thread = newThread()
  const events = await run(agent, thread, user('a'))
  const asked = events.find(({ method }) => method === 'input.requested')!.data as { interrupt_id: string }
  await run(agent, thread, answers({ [asked.interrupt_id]: 'yes' }))
  const { values } = await stateOf(agent, thread)
  const said = messagesIn(values).filter(({ type, content }) => type === 'ai' && typeof content === 'string')
  expect(said.map(({ content }) => content)).toEqual(['Let me see.', 'Now I ask.', 'You said yes.'])
  expect(calls).toBe(1)
})

test('a generator that yields something else fails, and is ended', async () => {
  let ended = false
  const agent = defineAgent({
    async *run() {
      try {
        yield 7 as never
      } finally {
        ended = true
      }
    },
  })
  await expect(run(agent, newThread(), user('a'))).rejects.toThrow('run yielded a number. Yield pieces of')
  expect(ended).toBe(true)
})

test('a generator as a tool fails its call, and a number is no answer', async () => {
  const agent = defineAgent({
    async run({ tool }) {
      await tool('add', {}, async function* () {} as never)
    },
  })
  await expect(run(agent, newThread(), user('a'))).rejects.toThrow('returned a generator')
  const number = defineAgent({ run: () => 7 as never })
  await expect(run(number, newThread(), user('a'))).rejects.toThrow('run returned a number')
})
