import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  type BaseStore,
  getStore,
  InMemoryStore,
  type LangGraphRunnableConfig,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { internalsOf } from '../../src/engine/index.ts'
import { createAgentEngine, defineAgent } from '../../src/index.ts'
import type { GraphStoreLike } from '../../src/storage/graph-store/index.ts'
import { engineOf } from '../kit/engine.ts'

const State = Annotation.Root({
  messages: Annotation<BaseMessage[]>({
    reducer: (before, added) => before.concat(added),
    default: () => [],
  }),
  seen: Annotation<string>(),
})

const remember = tool(
  async ({ fact }, config: LangGraphRunnableConfig) => {
    await config.store!.put(['facts', 'tool'], 'last', { fact })
    return 'kept'
  },
  { name: 'remember', description: 'Keeps a fact.', schema: z.object({ fact: z.string() }) },
)

const call = new AIMessage({
  content: '',
  tool_calls: [{ id: 'c1', name: 'remember', args: { fact: 'tools have it' } }],
})

/** A graph that writes in a node and in a tool, and reads what was there before. */
const graph = (store?: BaseStore) =>
  new StateGraph(State)
    .addNode('node', async (_state, config) => {
      const before = await getStore(config)!.get(['facts', 'node'], 'last')
      await config.store!.put(['facts', 'node'], 'last', { fact: 'nodes have it' })
      return { messages: [call], seen: (before?.value.fact as string) ?? 'nothing' }
    })
    .addNode('tools', new ToolNode([remember]))
    .addEdge('__start__', 'node')
    .addEdge('node', 'tools')
    .addEdge('tools', '__end__')
    .compile(store && { store })

async function run(
  engine: ReturnType<typeof engineOf>,
  threadId: string,
  principal: { id: string } | null = null,
) {
  const { runId } = await engine.start({ threadId, assistantId: 'a', input: {}, principal })
  const result = await engine.wait({ threadId, runId, principal })
  expect(result).toMatchObject({ status: 'success' })
  const thread = (await engine.findThread({ threadId, principal }))!
  return (await engine.readState(thread))!.values
}

describe('the store of a graph', () => {
  test('is that of the owner of the thread, in nodes and tools, over all threads', async () => {
    const engine = engineOf({ a: langgraph(graph()) })
    const ann = { id: 'ann' }
    expect((await run(engine, 't1', ann)).seen).toBe('nothing')
    expect((await run(engine, 't2', ann)).seen).toBe('nodes have it')
    expect((await run(engine, 't3', { id: 'bob' })).seen).toBe('nothing')
    const items = await engine.graphStore(ann).search(['facts'])
    expect(items.map(({ value }) => value.fact).sort()).toEqual(['nodes have it', 'tools have it'])
    expect(await engine.graphStore({ id: 'eve' }).search([])).toEqual([])
  })

  test('has what code on the server has put there', async () => {
    const engine = engineOf({ a: langgraph(graph()) })
    await engine.graphStore().put(['facts', 'node'], 'last', { fact: 'from outside' })
    expect((await run(engine, 't')).seen).toBe('from outside')
  })

  test('is the one that the graph was compiled with, where it has one', async () => {
    const own = new InMemoryStore()
    const engine = engineOf({ a: langgraph(graph(own)) })
    await run(engine, 't')
    expect(await engine.graphStore().search([])).toEqual([])
    expect((await own.get(['facts', 'node'], 'last'))?.value).toEqual({ fact: 'nodes have it' })
  })

  test('is a BaseStore that the engine was given, for everybody', async () => {
    const given = new InMemoryStore()
    const engine = engineOf({ a: langgraph(graph()) }, { graphStore: given })
    await run(engine, 't', { id: 'ann' })
    expect((await given.get(['facts', 'tool'], 'last'))?.value).toEqual({ fact: 'tools have it' })
    expect((await run(engine, 't2', { id: 'bob' })).seen).toBe('nodes have it')
    expect(engine.graphStore({ id: 'bob' })).toBe(given)
    expect(internalsOf(engine).sharesGraphStore).toBe(true)
  })

  test('is there for the writers of a node whose state is written from outside', async () => {
    const written = new StateGraph(State)
      .addNode('node', () => ({ seen: 'ran' }))
      .addEdge('__start__', 'node')
      .addConditionalEdges('node', async (_state, config) => {
        await getStore(config)!.put(['edges'], 'last', { fact: 'edges have it' })
        return '__end__'
      })
      .compile()
    const engine = engineOf({ a: langgraph(written) })
    await engine.writeState({ threadId: 't', values: { seen: 'x' }, asNode: 'node' })
    expect((await engine.graphStore().get(['edges'], 'last'))?.value).toEqual({ fact: 'edges have it' })
  })

  test('is in the context of a function', async () => {
    const keep = defineAgent({
      async run({ store, input }) {
        const before = await store.get(['notes'], 'last')
        await store.put(['notes'], 'last', input)
        return { before: before?.value ?? null }
      },
    })
    const engine = engineOf({ a: keep })
    const send = async (threadId: string, n: number) => {
      const { runId } = await engine.start({ threadId, input: { n } })
      await engine.wait({ threadId, runId })
      return (await engine.readState((await engine.findThread({ threadId }))!))!.values.before
    }
    expect(await send('t1', 1)).toBeNull()
    expect(await send('t2', 2)).toEqual({ n: 1 })
  })

  test('has the type of a BaseStore, and takes one', async () => {
    const engine = createAgentEngine({ agents: { a: langgraph(graph()) }, onError() {} })
    const base: BaseStore = engine.graphStore()
    const back: GraphStoreLike = new InMemoryStore()
    expect([typeof base.batch, typeof back.batch]).toEqual(['function', 'function'])
    await engine.close()
  })
})
