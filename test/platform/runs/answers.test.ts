import { Annotation, Command, interrupt, START, StateGraph } from '@langchain/langgraph'
import { Client, type ThreadState } from '@langchain/langgraph-sdk'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import type { OwnEngineOptions } from '../../../src/index.ts'
import { PLACES } from '../../kit/databases.ts'
import { serveAgents } from '../../kit/host.ts'
import { SHARED } from '../../kit/shared.ts'

async function serve(options: OwnEngineOptions) {
  const host = await serveAgents(options)
  const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  await client.threads.create({ threadId: 't' })
  return { host, client, run: (payload: object) => client.runs.wait('t', 'a', payload) }
}

const Notes = Annotation.Root({
  notes: Annotation<unknown[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})

/** A graph of one node. */
const graph = (node: () => object) =>
  new StateGraph(Notes).addNode('ask', node).addEdge(START, 'ask').compile()

/** A graph with this one inside. */
const around = (inner: ReturnType<typeof graph>) =>
  new StateGraph(Notes).addNode('inner', inner).addEdge(START, 'inner').compile()

/** A node that takes only numbers as answers. */
const picky = () => {
  const numbers = ['first', 'second'].map((name) => {
    const answer: unknown = interrupt(name)
    if (typeof answer !== 'number') throw new Error(`${String(answer)} is not a number`)
    return answer
  })
  return { notes: numbers }
}

const handover = () => {
  const inner = new StateGraph(Notes)
    .addNode(
      'hand',
      () => new Command({ graph: Command.PARENT, goto: 'other', update: { notes: ['handed'] } }),
    )
    .addEdge(START, 'hand')
    .compile()
  return new StateGraph(Notes)
    .addNode('inner', inner, { ends: ['other'] })
    .addNode('other', () => ({ notes: ['taken'] }))
    .addEdge(START, 'inner')
    .compile()
}

const questionsIn = ({ tasks }: ThreadState) => tasks.flatMap(({ interrupts }) => interrupts)
const input = { notes: ['x'] }

describe.each(PLACES)('over $name', ({ open }) => {
  test.each([
    ['a node', () => graph(picky)],
    ['a node of a subgraph', () => around(graph(picky))],
  ])('an answer that %s refuses can be corrected', async (_, make) => {
    const { client, run } = await serve({ agents: { a: langgraph(make()) }, ...(await open()) })
    await run({ input })
    for (const [wrong, right] of [
      ['one', 1],
      ['two', 2],
    ]) {
      await expect(run({ command: { resume: wrong } })).rejects.toThrow(`${wrong} is not a number`)
      const [thread, state] = await Promise.all([client.threads.get('t'), client.threads.getState('t')])
      expect(thread).toMatchObject({ status: 'interrupted', error: `${wrong} is not a number` })
      expect(Object.values(thread.interrupts).flat()).toEqual(questionsIn(state))
      expect(questionsIn(state)).toMatchObject([{ value: right === 1 ? 'first' : 'second' }])
      await run({ command: { resume: right } })
    }
    expect(await client.threads.getState('t')).toMatchObject({ next: [] })
    expect((await client.threads.getState<typeof input>('t')).values.notes.slice(-2)).toEqual([1, 2])
  })

  test('a node that hands over to the enclosing graph has no error', async () => {
    const { client, host } = await serve({ agents: { a: langgraph(handover()) }, ...(await open()) })
    const tasks: unknown[] = []
    const streamed = client.runs.stream('t', 'a', { input, streamMode: ['tasks'], streamSubgraphs: true })
    for await (const { event, data } of streamed) if (event.startsWith('tasks')) tasks.push(data)
    const ended = tasks.filter((task) => 'result' in Object(task))
    expect(ended).toMatchObject([
      { name: 'hand', error: null },
      { name: 'inner', error: null },
      { name: 'other', error: null },
    ])
    const at = (await client.threads.getHistory('t')).find(({ next }) => next[0] === 'inner')!
    const inside = at.tasks[0]!.checkpoint!
    const state = await client.threads.getState('t', { ...inside, checkpoint_id: null } as never)
    expect(state.tasks).toMatchObject([{ name: 'hand', error: null }])
    const thread = host.thread('of-the-protocol')
    await thread.start(input, { assistant_id: 'a' })
    const events = await thread.transcript()
    expect(events.filter(({ method, params }) => method === 'tasks' && params.data.error)).toEqual([])
    expect(events.filter(({ params }) => Object(params.data).event === 'failed')).toEqual([])
  })
})

describe.each(PLACES.filter(({ name }) => name !== 'memory'))('over $name', ({ open }) => {
  test.each([
    ['notes', () => ({ notes: [1n] })],
    ['notes', () => ({ notes: [{ deep: new Map([['n', 1n]]) }] })],
  ])(
    'a BigInt in the state fails the run with its channel, and leaves no question',
    async (channel, write) => {
      const asks = new StateGraph(Notes)
        .addNode('one', write)
        .addNode('ask', () => ({ notes: [interrupt('ok?')] }))
        .addEdge(START, 'one')
        .addEdge('one', 'ask')
        .compile()
      const { client, run } = await serve({ agents: { a: langgraph(asks) }, ...(await open()) })
      const message = `The state cannot be saved: "${channel}" contains a BigInt. Use a number or a string.`
      await expect(run({ input })).rejects.toThrow(message)
      const thread = await client.threads.get('t')
      expect(thread).toMatchObject({ status: 'error', error: message })
      expect(Object.values(thread.interrupts).flat()).toEqual([])
      await expect(run({ command: { resume: 'ok' } })).rejects.toThrow('HTTP 400')
      expect((await client.threads.getState('t')).values).toEqual(input)
    },
  )
})

describe.each(Object.entries(SHARED))('over %s', (_, make) => {
  test('a run whose events the log has lost is joined with its final values, also by a stream', async () => {
    const place = make({ maxThreadBytes: 1 })()
    const done = langgraph(graph(() => ({ notes: ['done'] })))
    const { client, run } = await serve({ agents: { a: done }, ...place })
    await run({ input: { notes: ['first'] } })
    await run({ input: { notes: ['second'] } })
    await place.store.sweep()
    const { firstRetained, head } = await place.store.inspect('t')
    const runs = (await client.runs.list('t')).toReversed()
    expect(firstRetained).toBeGreaterThan(head / 2)
    const values = [{ notes: ['first', 'done'] }, { notes: ['first', 'done', 'second', 'done'] }]
    for (const [at, { run_id: id }] of runs.entries()) {
      expect(await client.runs.join('t', id)).toEqual(values[at])
      const frames: { readonly event: string; readonly data: unknown }[] = []
      for await (const frame of client.runs.joinStream('t', id)) frames.push(frame)
      const told = frames.filter(({ event }) => event === 'values')
      expect(told.at(-1)?.data).toEqual(values[at])
    }
  })
})
