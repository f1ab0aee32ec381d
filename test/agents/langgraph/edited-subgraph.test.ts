import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { request } from '../../kit/client.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'

const State = Annotation.Root({ topic: Annotation<string>(), answer: Annotation<string>() })

/** A graph that asks in a subgraph which is this deep. */
function asking(depth: number) {
  const ask = ({ topic }: typeof State.State) => ({ answer: `${topic}: ${interrupt(`About ${topic}?`)}` })
  const inner = new StateGraph(State)
    .addNode('prepare', () => ({}))
    .addNode('ask', ask)
    .addEdge(START, 'prepare')
    .addEdge('prepare', 'ask')
  let graph = inner.compile()
  for (let i = 1; i < depth; i++)
    graph = new StateGraph(State).addNode(`sub${i}`, graph).addEdge(START, `sub${i}`).compile() as never
  return new StateGraph(State).addNode('sub', graph).addEdge(START, 'sub')
}

const deepest = (task: Json): Json => (task.state.tasks[0]?.state ? deepest(task.state.tasks[0]) : task.state)

/** What the graph says by itself: the oracle. */
async function byLangGraph(depth: number, isEdited: boolean): Promise<unknown> {
  const graph = asking(depth).compile({ checkpointer: new MemorySaver() })
  const at = { configurable: { thread_id: 't' } }
  await graph.invoke({ topic: 'tea' }, at)
  const { tasks } = await graph.getState(at, { subgraphs: true })
  if (isEdited) await graph.updateState(deepest(tasks[0]).config, { topic: 'coffee' })
  return graph.invoke(new Command({ resume: 'yes' }), at)
}

async function asked(depth: number) {
  const { origin } = await serveAgents({ agents: { agent: langgraph(asking(depth).compile()) } })
  const ask = async (method: string, path: string, body?: unknown): Promise<Json> =>
    (await request(origin, method, path, body)).body
  const { thread_id } = await ask('POST', '/threads', {})
  const path = `/threads/${thread_id}`
  await ask('POST', `${path}/runs/wait`, { assistant_id: 'agent', input: { topic: 'tea' } })
  const edit = async () => {
    const { tasks } = await ask('GET', `${path}/state?subgraphs=true`)
    const { checkpoint } = deepest(tasks[0])
    return ask('POST', `${path}/state`, { values: { topic: 'coffee' }, checkpoint })
  }
  return { ask, path, edit }
}

describe.each([1, 2])('a question in a subgraph of depth %d', (depth) => {
  test.each([true, false])('is answered by a plain resume, edited: %s', async (isEdited) => {
    const { ask, path, edit } = await asked(depth)
    if (isEdited) await edit()
    const resume = { assistant_id: 'agent', command: { resume: 'yes' } }
    const values = await ask('POST', `${path}/runs/wait`, resume)
    expect(values).toEqual(await byLangGraph(depth, isEdited))
    expect(values.answer).toBe(isEdited ? 'coffee: yes' : 'tea: yes')
    expect(await ask('GET', path)).toMatchObject({ status: 'idle', interrupts: {} })
  })

  test('is answered by its id after an edit', async () => {
    const { ask, path, edit } = await asked(depth)
    await edit()
    const { tasks } = await ask('GET', `${path}/state`)
    const responses = [{ interrupt_id: tasks[0].interrupts[0].id, response: 'yes' }]
    const { type } = await ask('POST', `${path}/commands`, {
      id: 1,
      method: 'input.respond',
      params: { namespace: [], responses },
    })
    expect(type).toBe('success')
    const [run] = await ask('GET', `${path}/runs?limit=1`)
    await ask('GET', `${path}/runs/${run.run_id}/join`)
    expect((await ask('GET', `${path}/state`)).values).toEqual({ topic: 'coffee', answer: 'coffee: yes' })
  })
})
