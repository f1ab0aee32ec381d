import { END, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { ServerEvent } from '../../src/index.ts'
import { Notes } from '../fixtures/graphs.ts'
import { isTerminal, rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'

type Stops = { readonly interruptBefore?: 'two'[]; readonly interruptAfter?: 'one'[] }

const twoNodes = () =>
  new StateGraph(Notes)
    .addNode('one', () => ({ notes: ['one'] }))
    .addNode('two', () => ({ notes: ['two'] }))
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('two', END)

async function serve(graph: Parameters<typeof langgraph>[0]) {
  const told: ServerEvent[] = []
  const host = await serveAgents({
    agents: { a: langgraph(graph) },
    observe: (event) => void told.push(event),
  })
  return { thread: host.thread(), told }
}

const stops: [string, Stops][] = [
  ['interruptBefore', { interruptBefore: ['two'] }],
  ['interruptAfter', { interruptAfter: ['one'] }],
]

describe.each(stops)('a breakpoint of %s', (_, stop) => {
  test('ends the run and the thread as interrupted, and a null input goes on', async () => {
    const { thread, told } = await serve(twoNodes().compile(stop))
    await thread.start({ notes: ['in'] })
    const events = await thread.transcript()
    expect(rootStates(events)).toEqual(['running', 'interrupted'])
    expect(events.some(({ method }) => method === 'input.requested')).toBe(false)
    expect((await thread.get('')).body).toMatchObject({ status: 'interrupted', interrupts: {}, error: null })
    expect((await thread.get('/state')).body).toMatchObject({
      values: { notes: ['in', 'one'] },
      next: ['two'],
    })
    expect(told.at(-1)).toMatchObject({ type: 'run.interrupted', status: 'interrupted', interruptIds: [] })

    await thread.start(null)
    const states = rootStates(await thread.transcript(2))
    expect(states).toEqual(['running', 'interrupted', 'running', 'completed'])
    expect((await thread.get('')).body).toMatchObject({ status: 'idle' })
    expect((await thread.get('/state')).body).toMatchObject({
      values: { notes: ['in', 'one', 'two'] },
      next: [],
    })
  })

  test('takes a written state, and stays a breakpoint', async () => {
    const { thread } = await serve(twoNodes().compile(stop))
    await thread.start({ notes: ['in'] })
    await thread.transcript()
    await thread.post('/state', { values: { notes: ['edited'] } })
    expect((await thread.get('')).body).toMatchObject({ status: 'interrupted' })
    expect((await thread.get('/state')).body).toMatchObject({ next: ['two'] })
    await thread.start(null)
    await thread.transcript(2)
    expect((await thread.get('/state')).body.values.notes).toEqual(['in', 'one', 'edited', 'two'])

    await thread.post('/state', { values: { notes: ['after'] }, as_node: 'two' })
    expect((await thread.get('')).body).toMatchObject({ status: 'idle' })
  })

  test('is left by a written state that steps over the rest, and by a new input', async () => {
    const { thread } = await serve(twoNodes().compile(stop))
    await thread.start({ notes: ['in'] })
    await thread.transcript()
    await thread.start({ notes: ['again'] })
    await thread.transcript(2)
    expect((await thread.get('/state')).body).toMatchObject({
      values: { notes: ['in', 'one', 'again', 'one'] },
      next: ['two'],
    })
    await thread.post('/state', { values: { notes: ['skipped'] }, as_node: 'two' })
    expect((await thread.get('')).body).toMatchObject({ status: 'idle' })
    expect((await thread.get('/state')).body).toMatchObject({ next: [] })
  })

  test('takes an injected message, because it asks nothing', async () => {
    const { thread } = await serve(twoNodes().compile(stop))
    await thread.start({ notes: ['in'] })
    await thread.transcript()
    // The state of this graph has no messages, so the message changes nothing but the checkpoint.
    const before = (await thread.get('/state')).body.checkpoint.checkpoint_id
    await thread.ok('input.inject', { message: { role: 'user', content: 'hi' } })
    const { checkpoint, next } = (await thread.get('/state')).body
    expect(checkpoint.checkpoint_id).not.toBe(before)
    expect(next).toEqual(['two'])
  })

  test('of a subgraph ends its namespace and the run as interrupted', async () => {
    const outer = new StateGraph(Notes)
      .addNode('inner', twoNodes().compile(stop))
      .addNode('after', () => ({ notes: ['after'] }))
      .addEdge(START, 'inner')
      .addEdge('inner', 'after')
      .addEdge('after', END)
      .compile()
    const { thread } = await serve(outer)
    await thread.start({ notes: ['in'] })
    const events = await thread.transcript()
    expect(rootStates(events)).toEqual(['running', 'interrupted'])
    const inner = events.filter(
      ({ method, params }) => method === 'lifecycle' && params.namespace.length === 1,
    )
    expect(inner.map(({ params }) => (params.data as { event: string }).event)).toEqual([
      'started',
      'interrupted',
    ])
    expect((await thread.get('/state')).body).toMatchObject({ next: ['inner'] })

    await thread.start(null)
    const all = await thread.transcript(2)
    expect(rootStates(all).slice(-1)).toEqual(['completed'])
    expect(all.filter(isTerminal)).toHaveLength(2)
    expect((await thread.get('/state')).body.values.notes.at(-1)).toBe('after')
  })
})
