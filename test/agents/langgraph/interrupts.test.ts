import { createRequire } from 'node:module'
import { Command, END, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { AgentInputError } from '../../../src/agents/errors.ts'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import {
  approval,
  inOrder,
  Notes,
  nestedApproval,
  researchers,
  supervised,
  toolAgent,
  twoApprovals,
} from '../../fixtures/graphs.ts'
import { dataOf, type Ended, humanInput, lines, of, threadOf } from '../../fixtures/tasks.ts'

const notes = { kind: 'input', value: { notes: ['in'] } } as const

const askedId = ({ events }: Ended, at = 0): string => dataOf(events, 'input.requested')[at].interrupt_id

describe('one interrupt', () => {
  test('is requested before the result of its task, and is not sent as values', async () => {
    const thread = threadOf(langgraph(approval()), memoryCheckpointer())
    const { events, error } = await thread.run(notes)
    expect(error).toBeUndefined()
    expect(lines(events)).toEqual([
      'checkpoints [] step0',
      'values []',
      'tasks [] ask start',
      'input.requested []',
      'tasks [] ask result',
    ])
    const [request] = dataOf(events, 'input.requested')
    expect(request).toEqual({
      interrupt_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      payload: { question: 'go?' },
      value: { question: 'go?' },
    })
    expect(await thread.state()).toMatchObject({
      values: { notes: ['in'] },
      next: ['ask'],
      tasks: [
        { name: 'ask', interrupts: [{ id: request.interrupt_id, value: { question: 'go?' } }], error: null },
      ],
    })
  })

  test('continues with its answer from the same checkpoint', async () => {
    const thread = threadOf(langgraph(approval()), memoryCheckpointer())
    const first = await thread.run(notes)
    const second = await thread.resume({ [askedId(first)]: 'yes' })
    expect(lines(second.events)).toEqual([
      'checkpoints [] step0',
      'values []',
      'tasks [] ask start',
      'updates [] ask',
      'tasks [] ask result',
      'checkpoints [] step1',
      'values []',
      'tasks [] after start',
      'updates [] after',
      'tasks [] after result',
      'checkpoints [] step2',
      'values []',
    ])
    expect(dataOf(second.events, 'checkpoints')[0].id).toBe(dataOf(first.events, 'checkpoints')[0].id)
    expect(await thread.state()).toMatchObject({
      values: { notes: ['in', 'answer: yes', 'after'] },
      next: [],
      tasks: [],
    })
  })

  test.each([null, false, 0, '', { approved: true }, ['a']])('takes %j as an answer', async (answer) => {
    const thread = threadOf(langgraph(approval()), memoryCheckpointer())
    await thread.resume({ [askedId(await thread.run(notes))]: answer })
    expect((await thread.state())!.values.notes).toEqual(['in', `answer: ${String(answer)}`, 'after'])
  })

  test('takes an update with the answer, which is part of the first values', async () => {
    const thread = threadOf(langgraph(approval()), memoryCheckpointer())
    const id = askedId(await thread.run(notes))
    const { events } = await thread.resume({ [id]: 'yes' }, { update: { notes: ['updated'] } })
    expect(dataOf(events, 'values')[0]).toEqual({ notes: ['in', 'updated'] })
    expect((await thread.state())!.values.notes).toEqual(['in', 'updated', 'answer: yes', 'after'])
  })

  test('takes an update as a list of keys and values', async () => {
    const thread = threadOf(langgraph(approval()), memoryCheckpointer())
    const id = askedId(await thread.run(notes))
    await thread.resume(
      { [id]: 'yes' },
      {
        update: [
          ['notes', ['a']],
          ['notes', ['b']],
        ],
      },
    )
    expect((await thread.state())!.values.notes).toEqual(['in', 'a', 'b', 'answer: yes', 'after'])
  })

  test.each([
    ['a node', 'after', ['in', 'after', 'answer: yes', 'after']],
    ['a node with its input', { node: 'after', input: {} }, ['in', 'after', 'answer: yes', 'after']],
    ['both', ['after', { node: 'after' }], ['in', 'after', 'after', 'answer: yes', 'after']],
  ])('takes a goto with the answer, which runs %s too', async (_, goto, expected) => {
    const thread = threadOf(langgraph(approval()), memoryCheckpointer())
    const id = askedId(await thread.run(notes))
    const { error } = await thread.resume({ [id]: 'yes' }, { goto })
    expect(error).toBeUndefined()
    const values = (await thread.state())!.values.notes as string[]
    expect(values.toSorted()).toEqual(expected.toSorted())
  })

  test.each(['nowhere', { node: 'nowhere' }, ['after', 7], { input: 1 }])(
    'stays pending when the goto %j is refused',
    async (goto) => {
      const thread = threadOf(langgraph(approval()), memoryCheckpointer())
      const id = askedId(await thread.run(notes))
      const { events, error } = await thread.resume({ [id]: 'yes' }, { goto })
      expect(error).toBeInstanceOf(AgentInputError)
      expect(events).toEqual([])
      expect((await thread.state())!.tasks).toMatchObject([{ interrupts: [{ id }] }])
    },
  )

  test('is raised again by a run without an answer', async () => {
    const thread = threadOf(langgraph(approval()), memoryCheckpointer())
    const first = await thread.run(notes)
    const again = await thread.run({ kind: 'input', value: null })
    expect(askedId(again)).toBe(askedId(first))
  })

  test('can be answered at a checkpoint that is no longer the newest', async () => {
    const thread = threadOf(langgraph(approval()), memoryCheckpointer())
    const first = await thread.run(notes)
    const checkpointId = (await thread.state())!.checkpoint.checkpointId
    await thread.run({ kind: 'input', value: { notes: ['later'] } })
    await thread.run({ kind: 'resume', answers: { [askedId(first)]: 'back' } }, { checkpointId })
    expect((await thread.state())!.values.notes).toEqual(['in', 'answer: back', 'after'])
  })
})

describe('a graph of another copy of LangGraph than the one that is imported here', () => {
  // A package with two builds is two copies: `require` gives other classes than `import`.
  const copy = createRequire(import.meta.url)('@langchain/langgraph') as typeof import('@langchain/langgraph')
  const graph = () =>
    new copy.StateGraph(
      copy.Annotation.Root({
        notes: copy.Annotation<string[]>({
          reducer: (before, after) => before.concat(after),
          default: () => [],
        }),
      }),
    )
      .addNode('ask', () => ({ notes: [`answer: ${String(copy.interrupt('go?'))}`] }))
      .addNode('after', () => ({ notes: ['after'] }))
      .addEdge(copy.START, 'ask')
      .addEdge('ask', 'after')
      .addEdge('after', copy.END)
      .compile()

  test('is answered, with an update and a node to go to', async () => {
    expect(copy.Command).not.toBe(Command)
    const thread = threadOf(langgraph(graph()), memoryCheckpointer())
    const id = askedId(await thread.run(notes))
    const { error } = await thread.resume({ [id]: 'yes' }, { update: { notes: ['card'] }, goto: 'after' })
    expect(error).toBeUndefined()
    const values = (await thread.state())!.values.notes as string[]
    expect(values.toSorted()).toEqual(['in', 'card', 'answer: yes', 'after', 'after'].toSorted())
  })

  test('refuses a goto with an input, for which the engine needs its own class', async () => {
    const thread = threadOf(langgraph(graph()), memoryCheckpointer())
    const id = askedId(await thread.run(notes))
    const { error } = await thread.resume({ [id]: 'yes' }, { goto: { node: 'after' } })
    expect(error).toBeInstanceOf(AgentInputError)
    expect((await thread.state())!.tasks).toMatchObject([{ interrupts: [{ id }] }])
  })
})

test('a static breakpoint ends the run without an interrupt, and a null input continues', async () => {
  const graph = new StateGraph(Notes)
    .addNode('one', () => ({ notes: ['one'] }))
    .addNode('two', () => ({ notes: ['two'] }))
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('two', END)
    .compile({ interruptBefore: ['two'] })
  const thread = threadOf(langgraph(graph), memoryCheckpointer())
  const { events, error } = await thread.run(notes)
  expect(error).toBeUndefined()
  expect(of(events, 'input.requested')).toEqual([])
  expect(await thread.state()).toMatchObject({ values: { notes: ['in', 'one'] }, next: ['two'] })
  await thread.run({ kind: 'input', value: null })
  expect(await thread.state()).toMatchObject({ values: { notes: ['in', 'one', 'two'] }, next: [] })
})

describe('parallel interrupts', () => {
  test('are requested once each', async () => {
    const { events } = await threadOf(langgraph(twoApprovals()), memoryCheckpointer()).run(notes)
    expect(dataOf(events, 'input.requested').map((data) => data.payload)).toEqual(['left?', 'right?'])
  })

  test('can be answered together', async () => {
    const thread = threadOf(langgraph(twoApprovals()), memoryCheckpointer())
    const first = await thread.run(notes)
    const second = await thread.resume({ [askedId(first, 0)]: 1, [askedId(first, 1)]: 2 })
    expect(dataOf(second.events, 'input.requested')).toEqual([])
    expect((await thread.state())!.values.notes).toEqual(['in', 'left: 1', 'right: 2', 'after'])
  })

  test('can be answered one by one, and the others are raised again with the same ids', async () => {
    const thread = threadOf(langgraph(twoApprovals()), memoryCheckpointer())
    const first = await thread.run(notes)
    const second = await thread.resume({ [askedId(first, 1)]: 'r' })
    expect(dataOf(second.events, 'input.requested')).toEqual([
      { interrupt_id: askedId(first, 0), payload: 'left?', value: 'left?' },
    ])
    expect((await thread.state())!.tasks.flatMap((task) => task.interrupts)).toEqual([
      { id: askedId(first, 0), value: 'left?' },
    ])
    await thread.resume({ [askedId(first, 0)]: 'l' })
    expect((await thread.state())!.values.notes).toEqual(['in', 'left: l', 'right: r', 'after'])
  })
})

describe('an interrupt inside of a subgraph', () => {
  test('is requested once, in its own namespace, which is interrupted and not completed', async () => {
    const { events } = await threadOf(langgraph(nestedApproval()), memoryCheckpointer()).run(notes)
    expect(lines(events)).toEqual([
      'checkpoints [] step0',
      'values []',
      'tasks [] sub start',
      'lifecycle [sub:A] started',
      'checkpoints [sub:A] step0',
      'values [sub:A]',
      'tasks [sub:A] first start',
      'updates [sub:A] first',
      'tasks [sub:A] first result',
      'checkpoints [sub:A] step1',
      'values [sub:A]',
      'tasks [sub:A] ask start',
      'input.requested [sub:A]',
      'tasks [sub:A] ask result',
      'tasks [] sub result',
      'lifecycle [sub:A] interrupted',
    ])
  })

  test('is answered at the root, in the same namespace as before', async () => {
    const thread = threadOf(langgraph(nestedApproval()), memoryCheckpointer())
    const first = await thread.run(notes)
    const second = await thread.resume({ [askedId(first)]: 'yes' })
    expect(of(second.events, 'lifecycle').map((event) => [event.namespace, event.data])).toEqual([
      [of(first.events, 'lifecycle')[0]!.namespace, { event: 'started', graph_name: 'sub' }],
      [of(first.events, 'lifecycle')[0]!.namespace, { event: 'completed', graph_name: 'sub' }],
    ])
    expect((await thread.state())!.values.notes).toEqual(['in', 'in', 'inner', 'answer: yes', 'after'])
  })
})

describe('interrupts of agents', () => {
  test('are raised by the human-in-the-loop middleware before a tool runs', async () => {
    const thread = threadOf(langgraph(supervised()), memoryCheckpointer())
    const first = await thread.run(humanInput('2+3'))
    expect(of(first.events, 'tools')).toEqual([])
    expect(dataOf(first.events, 'input.requested')[0].payload).toMatchObject({
      actionRequests: [{ name: 'add', args: { a: 2, b: 3 } }],
      reviewConfigs: [{ actionName: 'add', allowedDecisions: ['approve', 'edit', 'reject'] }],
    })
    const second = await thread.resume({ [askedId(first)]: { decisions: [{ type: 'approve' }] } })
    expect(dataOf(second.events, 'tools').map((data) => data.event)).toEqual([
      'tool-started',
      'tool-finished',
    ])
    expect((await thread.state())!.values.messages).toMatchObject([
      { type: 'human' },
      { type: 'ai' },
      { type: 'tool', content: '5' },
      { type: 'ai', content: [{ text: 'Done.' }] },
    ])
  })

  test('do not fail the tool that raises them', async () => {
    const agent = toolAgent(
      inOrder({ toolCalls: [{ id: 'c1', name: 'confirm', args: { what: 'sure?' } }] }, { text: 'ok' }),
    )
    const thread = threadOf(langgraph(agent), memoryCheckpointer())
    const first = await thread.run(humanInput('go'))
    expect(lines(first.events).slice(-6)).toEqual([
      'tasks [] tools start',
      'lifecycle [tools:B] started',
      'tools [tools:B] tool-started confirm',
      'input.requested []',
      'tasks [] tools result',
      'lifecycle [tools:B] interrupted',
    ])
    const second = await thread.resume({ [askedId(first)]: 'yes' })
    expect(dataOf(second.events, 'tools')).toMatchObject([
      { event: 'tool-started', tool_call_id: 'c1' },
      { event: 'tool-finished', output: { content: 'confirmed: yes' } },
    ])
  })

  test('are raised by a subagent through its task', async () => {
    const thread = threadOf(langgraph(researchers({ asks: true })), memoryCheckpointer())
    const first = await thread.run(humanInput('go'))
    expect(lines(first.events).filter((line) => /^(lifecycle|tools|input)/.test(line))).toEqual([
      'lifecycle [model_request:A] started',
      'lifecycle [model_request:A] completed',
      'lifecycle [tools:B] started',
      'tools [tools:B] tool-started task',
      'lifecycle [tools:B|model_request:C] started',
      'lifecycle [tools:B|model_request:C] completed',
      'lifecycle [tools:B|tools:D] started',
      'tools [tools:B|tools:D] tool-started confirm',
      'input.requested [tools:B]',
      'lifecycle [tools:B|tools:D] interrupted',
      'lifecycle [tools:B] interrupted',
    ])
    const second = await thread.resume({ [askedId(first)]: 'yes' })
    const namespaceOf = ({ events }: Ended) => of(events, 'tools')[0]!.namespace
    expect(namespaceOf(second)).toEqual(namespaceOf(first))
    expect((await thread.state())!.values.messages).toMatchObject([
      { type: 'human' },
      { type: 'ai' },
      { type: 'tool', content: 'x is 5' },
      { type: 'ai' },
    ])
  })
})
