import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { approval, chat, threeSteps, twoApprovals } from '../../fixtures/graphs.ts'
import { dataOf, isRoot, isTerminal, type Json, rootStates } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { puppet } from '../../kit/puppet.ts'
import { gate } from '../../kit/wait.ts'

const idOf = (state: Json): string => state.checkpoint.checkpoint_id

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('the answer gives a UUID 7, the thread exists from then on, and the agent gets what the client sent', async () => {
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent, b: puppet().agent } })
  const thread = host.thread()
  const input = {
    messages: [{ type: 'human', content: 'Q', id: 'h1', additional_kwargs: { kept: [1, null] } }],
  }
  const run_id = await thread.start(input, {
    assistant_id: 'a',
    config: {
      configurable: {
        model: 'm',
        thread_id: 'another',
        checkpoint_ns: 'x',
        __pregel_secret: 1,
        langgraph_auth_user: { id: 'root' },
        langgraph_auth_user_id: 'root',
      },
      recursion_limit: 7,
      tags: ['t'],
      metadata: { from: 'config', both: 'config' },
    },
    metadata: { both: 'params' },
  })
  expect(run_id).toMatch(UUID7)
  expect((await thread.get('')).body).toMatchObject({
    thread_id: thread.id,
    status: 'busy',
    metadata: { assistant_id: 'a', graph_id: 'a' },
  })
  expect(actor.tasks[0]).toMatchObject({
    threadId: thread.id,
    runId: run_id,
    assistantId: 'a',
    start: { kind: 'input', value: input },
    config: {
      recursionLimit: 7,
      tags: ['t'],
      metadata: { from: 'config', both: 'params' },
    },
  })
  expect(actor.tasks[0]!.config.configurable).toEqual({ model: 'm' })
})

test.each([
  ['snake_case', { assistant_id: 'a', multitask_strategy: 'reject', config: { recursion_limit: 3 } }],
  ['camelCase', { assistantId: 'a', multitaskStrategy: 'reject', config: { recursionLimit: 3 } }],
  [
    'both, of which snake_case counts',
    {
      assistant_id: 'a',
      assistantId: 'nobody',
      multitask_strategy: 'reject',
      multitaskStrategy: 'enqueue',
      config: { recursion_limit: 3, recursionLimit: -1 },
    },
  ],
])('params are read in %s', async (_, params) => {
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent, b: puppet().agent } })
  const thread = host.thread()
  await thread.start({}, params)
  expect(actor.tasks[0]!.config.recursionLimit).toBe(3)
  expect(await thread.refused('run.start', { ...params, input: {} })).toBe('invalid_argument')
})

test('null counts as omitted, unknown keys are ignored, and command ids may be strings', async () => {
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent } })
  const thread = host.thread()
  const params = {
    assistant_id: null,
    input: {},
    config: null,
    metadata: null,
    multitaskStrategy: null,
    forkFrom: 'x',
    new: 1,
  }
  const { body } = await thread.post('/commands', { id: 'mine', method: 'run.start', params, jsonrpc: '2.0' })
  expect(body).toMatchObject({ type: 'success', id: 'mine' })
})

test.each([
  ['no input', {}, null],
  ['null', { input: null }, null],
  ['text', { input: 'hello' }, 'hello'],
  [
    'a LangChain object',
    {
      input: {
        messages: [
          {
            lc: 1,
            type: 'constructor',
            id: ['langchain_core', 'messages', 'HumanMessage'],
            kwargs: { content: 'Q' },
          },
        ],
      },
    },
    {
      messages: [
        {
          lc: 1,
          type: 'constructor',
          id: ['langchain_core', 'messages', 'HumanMessage'],
          kwargs: { content: 'Q' },
        },
      ],
    },
  ],
])('input passes through untouched: %s', async (_, params, value) => {
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent } })
  await host.thread().ok('run.start', params)
  expect(actor.tasks[0]!.start).toEqual({ kind: 'input', value })
})

test('message ids that clients made are kept, in events and state', async () => {
  const host = await serveAgents({ agents: { chat: langgraph(chat()) } })
  const thread = host.thread()
  await thread.start({
    messages: [
      { type: 'human', content: 'Q', id: '0192-mine', additional_kwargs: {}, response_metadata: {} },
    ],
  })
  const { values } = await thread.idle()
  expect(values.messages[0]).toMatchObject({ type: 'human', id: '0192-mine', content: 'Q' })
  const streamed = dataOf(await thread.transcript(), 'messages').find(
    ({ event, role }) => event === 'message-start' && role !== 'human',
  )
  expect(values.messages[1]).toMatchObject({ type: 'ai', id: streamed.id })
})

describe('the assistant', () => {
  const agents = () => ({ a: puppet().agent, b: puppet().agent })

  test('binds the thread at its first run, also for another server over the same store', async () => {
    const host = await serveAgents({ agents: agents() })
    const thread = host.thread()
    await thread.start({}, { assistant_id: 'a' })
    const refused = await thread.command('run.start', { assistant_id: 'b', input: {} })
    expect(refused).toMatchObject({
      error: 'invalid_argument',
      message: expect.stringMatching(/bound to assistant "a"/),
    })
  })

  test('is refused when it is unknown or missing, and no thread is left behind', async () => {
    const host = await serveAgents({ agents: agents() })
    const thread = host.thread()
    expect(await thread.refused('run.start', { assistant_id: 'nobody', input: {} })).toBe('invalid_argument')
    expect(await thread.refused('run.start', { assistant_id: '__proto__', input: {} })).toBe(
      'invalid_argument',
    )
    expect(await thread.refused('run.start', { input: {} })).toBe('invalid_argument')
    expect((await thread.get('')).status).toBe(404)
    expect((await thread.get('/state')).status).toBe(404)
  })

  test('may be omitted where there is a default, and where the thread has one', async () => {
    const host = await serveAgents({ agents: agents(), defaultAgent: 'b' })
    const byDefault = host.thread()
    await byDefault.start()
    expect((await byDefault.get('')).body.metadata.assistant_id).toBe('b')
    const bound = host.thread()
    await bound.start({}, { assistant_id: 'a' })
    await bound.start()
    expect((await bound.get('')).body.metadata.assistant_id).toBe('a')
  })

  test('`_` leaves the choice to the server, as a missing one does', async () => {
    const host = await serveAgents({ agents: agents(), defaultAgent: 'b' })
    for (const key of ['assistant_id', 'assistantId']) {
      const byDefault = host.thread()
      await byDefault.start({}, { [key]: '_' })
      expect((await byDefault.get('')).body.metadata).toEqual({ assistant_id: 'b', graph_id: 'b' })
    }
    const bound = host.thread()
    await bound.start({}, { assistant_id: 'a' })
    await bound.start({}, { assistant_id: '_' })
    expect((await bound.get('')).body.metadata).toEqual({ assistant_id: 'a', graph_id: 'a' })
    const several = (await serveAgents({ agents: agents() })).thread()
    expect(await several.refused('run.start', { assistant_id: '_', input: {} })).toBe('invalid_argument')
    expect((await several.get('')).status).toBe(404)
  })

  test('`_` is the agent that is registered under this name', async () => {
    const host = await serveAgents({ agents: { ...agents(), _: puppet().agent }, defaultAgent: 'b' })
    const thread = host.thread()
    await thread.start({}, { assistant_id: '_' })
    expect((await thread.get('')).body.metadata.assistant_id).toBe('_')
    expect(await thread.refused('run.start', { assistant_id: 'b', input: {} })).toBe('invalid_argument')
  })

  test.each(['', 7, true, [], ['a'], {}, { id: 'a' }])(
    '%j is invalid, also on a thread that has an assistant and for an agent of this name',
    async (assistant_id) => {
      const host = await serveAgents({ agents: { ...agents(), '': puppet().agent }, defaultAgent: 'b' })
      const bound = host.thread()
      await bound.start({})
      for (const thread of [bound, host.thread()]) {
        const answer = await thread.command('run.start', { assistant_id, input: {} })
        expect(answer).toMatchObject({
          error: 'invalid_argument',
          message: expect.stringMatching(/^assistant_id: /),
        })
      }
    },
  )
})

describe('on an interrupted thread', () => {
  test('an input is the answer', async () => {
    const host = await serveAgents({ agents: { ask: langgraph(approval()) } })
    const thread = host.thread()
    await thread.start()
    await thread.idle()
    await thread.start('yes')
    expect(await thread.idle()).toMatchObject({ values: { notes: ['answer: yes', 'after'] }, next: [] })
  })

  test('a run without an input leaves the interrupt open', async () => {
    const host = await serveAgents({ agents: { ask: langgraph(approval()) } })
    const thread = host.thread()
    await thread.start()
    const [asked] = dataOf(await thread.transcript(), 'input.requested')
    await thread.start(null)
    const events = await thread.transcript(2)
    expect(rootStates(events).at(-1)).toBe('interrupted')
    // The client that starts a run has dropped the question, so it is asked again. A later client gets it once.
    expect(dataOf(events, 'input.requested')).toEqual([asked, asked])
    const replay = await (await thread.stream()).until((seen) => rootStates(seen).length === 2)
    expect(dataOf(replay, 'input.requested')).toEqual([asked])
    await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, response: 'yes' })
    expect(rootStates(await thread.transcript(3)).at(-1)).toBe('completed')
  })

  test('an input cannot answer several interrupts', async () => {
    const host = await serveAgents({ agents: { two: langgraph(twoApprovals()) } })
    const thread = host.thread()
    await thread.start()
    await thread.idle()
    const before = await thread.get('')
    expect(await thread.refused('run.start', { input: 'yes' })).toBe('invalid_argument')
    expect(await thread.get('')).toMatchObject({ body: before.body })
  })

  test('a checkpoint forks, whatever interrupts wait', async () => {
    const host = await serveAgents({ agents: { ask: langgraph(approval()) } })
    const thread = host.thread()
    await thread.start()
    const { checkpoint } = await thread.idle()
    await thread.start(
      { notes: ['new'] },
      { config: { configurable: { checkpoint_id: checkpoint.checkpoint_id } } },
    )
    const events = await thread.transcript(2)
    expect(rootStates(events)).toEqual(['running', 'interrupted', 'running', 'interrupted'])
    const [first, second] = dataOf(events, 'input.requested')
    expect(second.interrupt_id).not.toBe(first.interrupt_id)
    expect(await thread.refused('input.respond', { interrupt_id: first.interrupt_id, response: 1 })).toBe(
      'no_such_interrupt',
    )
    await thread.ok('input.respond', { interrupt_id: second.interrupt_id, response: 'yes' })
    expect(await thread.idle()).toMatchObject({ values: { notes: ['new', 'answer: yes', 'after'] } })
  })
})

describe('a fork', () => {
  test('starts from the checkpoint, its steps continue from there, and the history keeps both branches', async () => {
    const host = await serveAgents({ agents: { steps: langgraph(threeSteps()) } })
    const thread = host.thread()
    await thread.start()
    await thread.idle()
    const { body: history } = await thread.post('/history', { limit: 20 })
    const one = history.find(({ values }: { values: { notes: string[] } }) => values.notes.length === 1)
    await thread.start(
      { notes: ['forked'] },
      { config: { configurable: { checkpoint_id: one.checkpoint.checkpoint_id } } },
    )
    expect((await thread.idle()).values.notes).toEqual(['one', 'forked', 'one', 'two', 'three'])
    const { body: both } = await thread.post('/history', { limit: 50 })
    const ids = both.map(idOf)
    expect(ids).toEqual(expect.arrayContaining(history.map(idOf)))
    const fresh = both.filter((state: Json) => !history.some((old: Json) => idOf(old) === idOf(state)))
    expect(fresh.at(-1)).toMatchObject({
      parent_checkpoint: { checkpoint_id: idOf(one) },
      metadata: { source: 'input', step: one.metadata.step + 1 },
    })
    const streamed = dataOf(await thread.transcript(2), 'checkpoints').map(({ step }) => step)
    expect(streamed).toEqual([1, 2, 3, 3, 4, 5, 6])
  })

  test('from a missing checkpoint is refused, and nothing changes', async () => {
    const host = await serveAgents({ agents: { steps: langgraph(threeSteps()) } })
    const thread = host.thread()
    const params = { input: {}, config: { configurable: { checkpoint_id: '1ef-none' } } }
    expect(await thread.refused('run.start', params)).toBe('no_such_checkpoint')
    expect((await thread.get('')).status).toBe(404)
    await thread.start()
    const state = await thread.idle()
    expect(await thread.refused('run.start', params)).toBe('no_such_checkpoint')
    expect(await thread.refused('state.fork', { checkpoint_id: '1ef-none' })).toBe('no_such_checkpoint')
    expect((await thread.get('/state')).body).toEqual(state)
  })

  test('from a checkpoint of another thread is refused', async () => {
    const host = await serveAgents({ agents: { steps: langgraph(threeSteps()) } })
    const one = host.thread()
    await one.start()
    const { checkpoint } = await one.idle()
    const params = { input: {}, config: { configurable: { checkpoint_id: checkpoint.checkpoint_id } } }
    expect(await host.thread().refused('run.start', params)).toBe('no_such_checkpoint')
  })
})

describe('while a run is in progress', () => {
  test.each([
    ['nothing', {}],
    ['enqueue', { multitaskStrategy: 'enqueue' }],
    ['a strategy nobody knows', { multitaskStrategy: 'later' }],
    ['a strategy that is no text', { multitaskStrategy: 7 }],
  ])('%s: the new run waits, and is running only when it runs', async (_, params) => {
    const actor = puppet()
    const host = await serveAgents({ agents: { a: actor.agent } })
    const thread = host.thread()
    const live = await thread.stream()
    const first = await thread.start()
    const second = await thread.start({}, params)
    expect(actor.tasks).toHaveLength(1)
    actor.finish()
    await live.until((events) => rootStates(events).length === 3)
    actor.finish()
    const roots = (await live.until((events) => events.filter(isTerminal).length === 2)).filter(isRoot)
    expect(roots.map(({ params: { data } }) => [data.run_id, data.event])).toEqual([
      [first, 'running'],
      [first, 'completed'],
      [second, 'running'],
      [second, 'completed'],
    ])
  })

  test('reject: the start is refused, and the thread is unchanged', async () => {
    const actor = puppet()
    const host = await serveAgents({ agents: { a: actor.agent } })
    const thread = host.thread()
    await thread.start()
    const before = (await thread.get('')).body
    expect(await thread.refused('run.start', { input: {}, multitaskStrategy: 'reject' })).toBe(
      'invalid_argument',
    )
    expect((await thread.get('')).body).toEqual(before)
    actor.finish()
    expect(rootStates(await thread.transcript())).toEqual(['running', 'completed'])
    expect(actor.tasks).toHaveLength(1)
  })

  /** A graph of three steps that waits in `two` of its first run. */
  function waiting() {
    const { opened: reached, open: reach } = gate()
    let runs = 0
    const graph = threeSteps((name, { signal }) => {
      if (name !== 'two' || runs++ > 0) return
      reach()
      return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
    })
    return { agent: langgraph(graph), reached }
  }

  test('interrupt: the old run ends interrupted and keeps its checkpoints, then the new one starts', async () => {
    const { agent, reached } = waiting()
    const host = await serveAgents({ agents: { a: agent } })
    const thread = host.thread()
    await thread.start({ notes: ['first'] })
    await reached
    await thread.start({ notes: ['second'] }, { multitaskStrategy: 'interrupt' })
    expect(rootStates(await thread.transcript(2))).toEqual(['running', 'interrupted', 'running', 'completed'])
    expect((await thread.get('/state')).body.values.notes).toEqual([
      'first',
      'one',
      'second',
      'one',
      'two',
      'three',
    ])
  })

  test('rollback: the old run ends interrupted and leaves nothing, then the new one starts', async () => {
    const { agent, reached } = waiting()
    const host = await serveAgents({ agents: { a: agent } })
    const thread = host.thread()
    await thread.start({ notes: ['first'] })
    await reached
    await thread.start({ notes: ['second'] }, { multitaskStrategy: 'rollback' })
    expect(rootStates(await thread.transcript(2))).toEqual(['running', 'interrupted', 'running', 'completed'])
    expect((await thread.get('/state')).body.values.notes).toEqual(['second', 'one', 'two', 'three'])
  })

  test('a queued run that is cancelled never starts', async () => {
    const actor = puppet()
    const host = await serveAgents({ agents: { a: actor.agent } })
    const thread = host.thread()
    await thread.start()
    const second = await thread.start()
    expect((await thread.post(`/runs/${second}/cancel?wait=1`)).status).toBe(204)
    actor.finish()
    expect(rootStates(await thread.transcript())).toEqual(['running', 'completed'])
    expect(await thread.idle()).toMatchObject({ next: [] })
    expect(actor.tasks).toHaveLength(1)
  })
})
