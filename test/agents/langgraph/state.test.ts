import { RemoveMessage } from '@langchain/core/messages'
import {
  Annotation,
  END,
  entrypoint,
  getPreviousState,
  MemorySaver,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { AgentInputError } from '../../../src/agents/errors.ts'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import type { Checkpointer } from '../../../src/storage/checkpointer/checkpointer.ts'
import { FencedError } from '../../../src/storage/errors.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import {
  calculator,
  chat,
  nestedApproval,
  PLANS_IN_A_NODE,
  researchers,
  threeSteps,
} from '../../fixtures/graphs.ts'
import { dataOf, humanInput, of, threadOf } from '../../fixtures/tasks.ts'

const notes = { kind: 'input', value: { notes: ['in'] } } as const

const savers: [string, () => Checkpointer][] = [
  ['our memory checkpointer', memoryCheckpointer],
  ['LangGraph’s MemorySaver', () => new MemorySaver()],
]

describe.each(savers)('getState over %s', (_, createSaver) => {
  test('is undefined before the first checkpoint, and for a checkpoint that does not exist', async () => {
    const agent = langgraph(threeSteps())
    const thread = threadOf(agent, createSaver())
    expect(await thread.state()).toBeUndefined()
    expect(await agent.getState({ ...thread.at, checkpointId: 'none' })).toBeUndefined()
    await thread.run(notes)
    expect(await agent.getState({ ...thread.at, checkpointId: 'none' })).toBeUndefined()
    expect(await agent.getState({ ...thread.at, checkpointNs: 'tools:none' })).toBeUndefined()
    expect(await agent.getState({ ...thread.at, threadId: 'other' })).toBeUndefined()
  })

  test('is the whole state of an idle thread', async () => {
    const thread = threadOf(langgraph(threeSteps()), createSaver())
    const { events } = await thread.run(notes)
    const last = dataOf(events, 'checkpoints').at(-1)
    expect(await thread.state()).toEqual({
      values: { notes: ['in', 'one', 'two', 'three'] },
      next: [],
      tasks: [],
      metadata: { source: 'loop', step: 3, parents: {}, thread_id: 'thread-1' },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      checkpoint: { threadId: 'thread-1', checkpointId: last.id, checkpointNs: '', checkpointMap: null },
      parentCheckpoint: {
        threadId: 'thread-1',
        checkpointId: last.parent_id,
        checkpointNs: '',
        checkpointMap: null,
      },
    })
  })

  test('names the nodes that would run next at an earlier checkpoint', async () => {
    const agent = langgraph(threeSteps())
    const thread = threadOf(agent, createSaver())
    const { events } = await thread.run(notes)
    const [{ id }] = dataOf(events, 'checkpoints')
    expect(await agent.getState({ ...thread.at, checkpointId: id })).toMatchObject({
      values: { notes: ['in'] },
      next: ['one'],
      tasks: [{ name: 'one', path: ['__pregel_pull', 'one'], result: { notes: ['one'] } }],
      checkpoint: { checkpointId: id },
    })
  })

  test('is plain JSON, with flat messages', async () => {
    const thread = threadOf(langgraph(calculator()), createSaver())
    await thread.run(humanInput('2+3'))
    const state = (await thread.state())!
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
    expect(JSON.stringify(state)).not.toContain('"lc":')
    expect(state.values.messages).toMatchObject([
      { type: 'human', id: 'h1' },
      { type: 'ai', usage_metadata: { total_tokens: 3 }, tool_calls: [{ name: 'add' }] },
      { type: 'tool', content: '5' },
      { type: 'ai' },
    ])
  })

  test('has the address of the state of a subgraph, or that state', async () => {
    const agent = langgraph(nestedApproval())
    const thread = threadOf(agent, createSaver())
    const { events } = await thread.run(notes)
    const [namespace] = of(events, 'input.requested')[0]!.namespace
    const [id] = dataOf(events, 'input.requested').map((data) => data.interrupt_id)
    const interrupts = [{ id, value: 'inner?' }]
    expect((await thread.state())!.tasks).toMatchObject([
      { name: 'sub', interrupts, checkpoint: { checkpointNs: namespace }, state: null },
    ])
    const inner = {
      values: { notes: ['in', 'inner'] },
      next: ['ask'],
      tasks: [{ name: 'ask', interrupts }],
      checkpoint: { checkpointNs: namespace },
    }
    const deep = await agent.getState(thread.at, { subgraphs: true })
    expect(deep!.tasks).toMatchObject([{ name: 'sub', interrupts, checkpoint: null, state: inner }])
    expect(await agent.getState({ ...thread.at, checkpointNs: namespace! })).toMatchObject(inner)
  })
})

describe('the state of an unusual graph', () => {
  test('has the key __root__ where the state of an entrypoint is not an object', async () => {
    const graph = entrypoint(
      'count',
      async (input: { by: number }) => (getPreviousState<number>() ?? 0) + input.by,
    )
    const thread = threadOf(langgraph(graph), memoryCheckpointer())
    await thread.run({ kind: 'input', value: { by: 2 } })
    const { events } = await thread.run({ kind: 'input', value: { by: 3 } })
    expect(dataOf(events, 'values').at(-1)).toBe(5)
    expect((await thread.state())!.values).toEqual({ __root__: 5 })
    const { triggerToNodes } = graph as unknown as { triggerToNodes: Record<string, string[]> }
    expect(Object.values(triggerToNodes)).toEqual([['count']])
  })

  test('becomes JSON where its values are not', async () => {
    const Odd = Annotation.Root({ odd: Annotation<unknown>() })
    const graph = new StateGraph(Odd)
      .addNode('node', () => ({ odd: { set: new Set([1]) } }))
      .addEdge(START, 'node')
      .addEdge('node', END)
      .compile()
    const thread = threadOf(langgraph(graph), memoryCheckpointer())
    await thread.run({ kind: 'input', value: { odd: 1 } })
    expect((await thread.state())!.values).toEqual({ odd: { set: [1] } })
  })
})

describe.each(savers)('getHistory over %s', (_, createSaver) => {
  async function finished() {
    const thread = threadOf(langgraph(threeSteps()), createSaver())
    await thread.run(notes)
    const all = await thread.history()
    return { thread, all, ids: all.map((snapshot) => snapshot.checkpoint.checkpointId) }
  }

  test('is newest first, and each snapshot names its parent', async () => {
    const { all, ids } = await finished()
    expect(all.map((snapshot) => snapshot.metadata.step)).toEqual([3, 2, 1, 0, -1])
    expect(all.map((snapshot) => snapshot.next)).toEqual([[], ['three'], ['two'], ['one'], ['__start__']])
    expect(all.map((snapshot) => snapshot.parentCheckpoint?.checkpointId)).toEqual([
      ...ids.slice(1),
      undefined,
    ])
    expect(all[1]!.tasks).toMatchObject([{ name: 'three', result: { notes: ['three'] }, error: null }])
  })

  test('takes limit, before and filter', async () => {
    const { thread, ids } = await finished()
    const idsOf = async (...query: Parameters<typeof thread.history>) =>
      (await thread.history(...query)).map((snapshot) => snapshot.checkpoint.checkpointId)
    expect(await idsOf({ limit: 2 })).toEqual(ids.slice(0, 2))
    expect(await idsOf({ limit: 0 })).toEqual([])
    expect(await idsOf({ before: ids[1]! })).toEqual(ids.slice(2))
    expect(await idsOf({ before: ids[1]!, limit: 1 })).toEqual([ids[2]])
    expect(await idsOf({ filter: { source: 'input' } })).toEqual([ids[4]])
    expect(await idsOf({ filter: { step: 7 } })).toEqual([])
  })

  test('begins at the checkpoint of the address', async () => {
    const { thread, ids } = await finished()
    const from = async (limit?: number) =>
      (await thread.history(limit === undefined ? {} : { limit }, { checkpointId: ids[2]! })).map(
        (snapshot) => snapshot.checkpoint.checkpointId,
      )
    expect(await from()).toEqual(ids.slice(2))
    expect(await from(1)).toEqual([ids[2]])
  })

  test('is empty for an unknown thread', async () => {
    expect(await threadOf(langgraph(threeSteps()), createSaver()).history()).toEqual([])
  })

  test('can be read for a subgraph', async () => {
    const thread = threadOf(langgraph(nestedApproval()), createSaver())
    const { events } = await thread.run(notes)
    const [checkpointNs] = of(events, 'input.requested')[0]!.namespace
    const history = await thread.history({}, { checkpointNs: checkpointNs! })
    expect(history.map((snapshot) => [snapshot.values.notes, snapshot.next])).toEqual([
      [['in', 'inner'], ['ask']],
      [['in'], ['first']],
      [[], ['__start__']],
    ])
  })
})

describe.each(savers)('subagents that a tool runs, over %s', (_, createSaver) => {
  test('have a history in the namespace of the tool when the thread is finished', async () => {
    const saver = createSaver()
    const { events } = await threadOf(langgraph(researchers()), saver).run(humanInput('q'))
    const checkpointNs = of(events, 'tools')[0]!.namespace.join('|')
    // A new instance of the agent stands for another process.
    const thread = threadOf(langgraph(researchers()), saver)
    const [latest, ...more] = await thread.history({ limit: 1 }, { checkpointNs })
    expect(more).toEqual([])
    expect(latest).toMatchObject({
      values: {
        messages: [
          { type: 'human', content: 'Find x' },
          { type: 'ai', tool_calls: [{ id: 'call_look' }] },
          { type: 'tool', tool_call_id: 'call_look', content: '5' },
          { type: 'ai', content: [{ type: 'text', text: 'x is 5' }] },
        ],
      },
      next: [],
      tasks: [],
      metadata: { source: 'loop', thread_id: 'thread-1' },
      checkpoint: { threadId: 'thread-1', checkpointNs },
      parentCheckpoint: { checkpointNs },
    })
    expect(Object.keys(latest!.values).filter((key) => /^__|:/.test(key))).toEqual([])
    const all = await thread.history({}, { checkpointNs })
    expect(all.map((snapshot) => snapshot.metadata.step)).toEqual([
      ...(PLANS_IN_A_NODE ? [7, 6] : []),
      ...[5, 4, 3, 2, 1, 0, -1],
    ])
    const plan = PLANS_IN_A_NODE ? ['todoListMiddleware.after_model'] : []
    const nodes = ['', ...plan, 'model_request', 'tools', ...plan]
    expect(all.map((snapshot) => snapshot.next.join()).slice(0, nodes.length)).toEqual(nodes)
    expect(JSON.stringify(all)).not.toContain('"lc":')
    // A client finds the namespace of a call through this task in the history of the root.
    const pushed = (await thread.history())
      .flatMap((snapshot) => snapshot.tasks)
      .find((task) => task.path[0] === '__pregel_push')
    expect(`${pushed!.name}:${pushed!.id}`).toBe(checkpointNs)
    expect(pushed!.result).toMatchObject({ messages: [{ tool_call_id: 'call_task' }] })
  })

  test('show their interrupts while they wait', async () => {
    const agent = langgraph(researchers({ asks: true }))
    const thread = threadOf(agent, createSaver())
    const { events } = await thread.run(humanInput('q'))
    const [request] = of(events, 'input.requested')
    const interrupts = [
      { id: (request!.data as { interrupt_id: string }).interrupt_id, value: { question: 'search?' } },
    ]
    const at = { ...thread.at, checkpointNs: request!.namespace.join('|') }
    expect(await agent.getState(at)).toMatchObject({
      values: { messages: [{ content: 'Find x' }, { type: 'ai' }] },
      next: ['tools'],
      tasks: [{ name: 'tools', interrupts, error: null }],
    })
    expect((await thread.state())!.tasks).toMatchObject([{ name: 'tools', interrupts }])
    await thread.resume({ [interrupts[0]!.id]: 'yes' })
    expect(await agent.getState(at)).toMatchObject({ next: [], tasks: [] })
  })

  test('cannot be updated', async () => {
    const agent = langgraph(researchers())
    const thread = threadOf(agent, createSaver())
    const { events } = await thread.run(humanInput('q'))
    const checkpointNs = of(events, 'tools')[0]!.namespace.join('|')
    await expect(agent.updateState({ ...thread.at, checkpointNs }, { values: {} })).rejects.toThrow(
      AgentInputError,
    )
  })
})

describe.each(savers)('updateState over %s', (_, createSaver) => {
  test('continues behind the node that it names', async () => {
    const agent = langgraph(threeSteps())
    const thread = threadOf(agent, createSaver())
    const { checkpointId } = await agent.updateState(thread.at, { values: { notes: ['set'] }, asNode: 'one' })
    expect(await thread.state()).toMatchObject({
      values: { notes: ['set'] },
      next: ['two'],
      metadata: { source: 'update', step: 0 },
      checkpoint: { checkpointId },
    })
    await thread.run({ kind: 'input', value: null })
    expect((await thread.state())!.values.notes).toEqual(['set', 'two', 'three'])
  })

  test('without a node is first the input, and later a write of the node that wrote last', async () => {
    const agent = langgraph(threeSteps())
    const thread = threadOf(agent, createSaver())
    await agent.updateState(thread.at, { values: { notes: ['in'] } })
    expect(await thread.state()).toMatchObject({ values: { notes: ['in'] }, next: ['one'] })
    await thread.run({ kind: 'input', value: null })
    await agent.updateState(thread.at, { values: { notes: ['more'] } })
    expect(await thread.state()).toMatchObject({
      values: { notes: ['in', 'one', 'two', 'three', 'more'] },
      next: [],
    })
  })

  test('lets an agent on an empty thread wait for its model, and takes later messages as those of the model', async () => {
    const agent = langgraph(calculator())
    const thread = threadOf(agent, createSaver())
    await agent.updateState(thread.at, { values: { messages: [] } })
    expect(await thread.state()).toMatchObject({
      values: { messages: [] },
      next: ['model_request'],
      metadata: { source: 'update', step: 0 },
    })
    await thread.run(humanInput('2+3'))
    await agent.updateState(thread.at, {
      values: { messages: [{ type: 'ai', content: 'By the way.', id: 'x' }] },
    })
    const state = (await thread.state())!
    expect(state.next).toEqual([])
    expect((state.values.messages as object[]).at(-1)).toMatchObject({
      type: 'ai',
      id: 'x',
      content: 'By the way.',
    })
  })

  test('makes a fork from an earlier checkpoint', async () => {
    const agent = langgraph(threeSteps())
    const thread = threadOf(agent, createSaver())
    const { events } = await thread.run(notes)
    const base = dataOf(events, 'checkpoints')[1].id
    await agent.updateState(
      { ...thread.at, checkpointId: base },
      { values: { notes: ['forked'] }, asNode: 'one' },
    )
    expect(await thread.state()).toMatchObject({
      values: { notes: ['in', 'one', 'forked'] },
      next: ['two'],
      parentCheckpoint: { checkpointId: base },
    })
    await thread.run({ kind: 'input', value: null })
    expect((await thread.state())!.values.notes).toEqual(['in', 'one', 'forked', 'two', 'three'])
  })

  test('removes messages, and without values writes an empty step', async () => {
    const agent = langgraph(chat())
    const thread = threadOf(agent, createSaver())
    await thread.run(humanInput('hi'))
    await agent.updateState(thread.at, { values: { messages: [new RemoveMessage({ id: 'h1' })] } })
    expect((await thread.state())!.values.messages).toMatchObject([{ type: 'ai' }])
    const before = (await thread.state())!
    const { checkpointId } = await agent.updateState(thread.at, { values: null })
    expect(await thread.state()).toMatchObject({
      values: before.values,
      checkpoint: { checkpointId },
      parentCheckpoint: before.checkpoint,
    })
  })

  test('writes to a subgraph', async () => {
    const agent = langgraph(nestedApproval())
    const thread = threadOf(agent, createSaver())
    const { events } = await thread.run(notes)
    const [request] = of(events, 'input.requested')
    const at = { ...thread.at, checkpointNs: request!.namespace.join('|') }
    await agent.updateState(at, { values: { notes: ['inside'] }, asNode: 'first' })
    expect(await agent.getState(at)).toMatchObject({
      values: { notes: ['in', 'inner', 'inside'] },
      next: ['ask'],
    })
  })

  test.each([
    ['an unknown node', { values: { notes: ['x'] }, asNode: 'nowhere' }, /nowhere/],
    ['values that are not an object', { values: 42, asNode: 'one' }, /object/],
    ['a value that the reducer cannot take', { values: { notes: 1n }, asNode: 'two' }, /list/],
  ])('refuses %s', async (name, update, message) => {
    const failing = new StateGraph(
      Annotation.Root({
        notes: Annotation<string[]>({
          reducer: (before, after) => {
            if (!Array.isArray(after)) throw new TypeError('notes takes a list')
            return before.concat(after)
          },
          default: () => [],
        }),
      }),
    )
      .addNode('one', () => ({}))
      .addNode('two', () => ({}))
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .compile()
    const agent = langgraph(failing)
    const thread = threadOf(agent, createSaver())
    await thread.run(notes)
    const before = await thread.state()
    const refused = await agent.updateState(thread.at, update).catch((error: unknown) => error)
    expect(refused, name).toBeInstanceOf(AgentInputError)
    expect((refused as Error).message).toMatch(message)
    expect((refused as Error).cause).toBeInstanceOf(Error)
    expect(await thread.state()).toEqual(before)
  })

  test('refuses invalid messages', async () => {
    const agent = langgraph(calculator())
    const thread = threadOf(agent, createSaver())
    await expect(agent.updateState(thread.at, { values: { messages: 42 } })).rejects.toThrow(AgentInputError)
    expect(await thread.state()).toBeUndefined()
  })

  test('rejects with the error of the saver unchanged', async () => {
    for (const failure of [new FencedError('gone'), new Error('connection refused')]) {
      for (const method of ['getTuple', 'put'] as const) {
        const saver = createSaver()
        Object.assign(saver, { [method]: () => Promise.reject(failure) })
        const agent = langgraph(threeSteps())
        const { at } = threadOf(agent, saver)
        const refused = await agent
          .updateState(at, { values: { notes: ['x'] } })
          .catch((error: unknown) => error)
        expect(refused).toBe(failure)
      }
    }
  })
})
