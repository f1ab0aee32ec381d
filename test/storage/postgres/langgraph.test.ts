import { AIMessage, HumanMessage } from '@langchain/core/messages'
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { FencedError } from '../../../src/storage/errors.ts'
import { fencedCheckpointer } from '../../../src/storage/fenced.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres-server.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  parts: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  seen: Annotation<string[]>(),
})

/** Messages, sends to parallel tasks, a subgraph, and an interrupt. */
function build(checkpointer: BaseCheckpointSaver) {
  const sub = new StateGraph(State)
    .addNode('inner', (state) => ({ parts: [`inner after ${state.messages.length}`] }))
    .addEdge(START, 'inner')
    .addEdge('inner', END)
    .compile()
  return new StateGraph(State)
    .addNode('model', ({ messages }) => ({
      messages: [new AIMessage({ content: 'reply', id: `ai${messages.length}` })],
    }))
    .addNode('part', ({ name }: { name: string }) => ({ parts: [name] }))
    .addNode('sub', sub)
    .addNode('ask', ({ messages }) => ({
      seen: messages.map((message) => message.constructor.name),
      parts: [`answer ${interrupt({ question: 'go on?' })}`],
    }))
    .addEdge(START, 'model')
    .addConditionalEdges('model', () => ['b', 'a'].map((name) => new Send('part', { name })))
    .addEdge('part', 'sub')
    .addEdge('sub', 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer })
}

const human = (content: string) => ({ messages: [new HumanMessage({ content, id: content })] })

/** What a conversation with an interrupt, a second turn, a fork and an update leaves behind, without its ids. */
async function converse(checkpointer: BaseCheckpointSaver): Promise<unknown> {
  const config = { configurable: { thread_id: 't' } }
  // A new graph each time, as after a restart.
  await build(checkpointer).invoke(human('one'), config)
  const waiting = await build(checkpointer).getState(config)
  const resumed = await build(checkpointer).invoke(new Command({ resume: 'yes' }), config)
  await build(checkpointer).invoke(human('two'), config)
  await build(checkpointer).updateState(config, { parts: ['edited'] }, 'sub')
  const forked = await build(checkpointer).invoke(new Command({ resume: 'fork' }), waiting.config)
  const history = []
  for await (const { values, next, metadata, tasks } of build(checkpointer).getStateHistory(config)) {
    const interrupts = tasks.flatMap((task) => task.interrupts.map(({ value }) => value))
    history.push({ values, next, source: metadata?.source, step: metadata?.step, interrupts })
  }
  return JSON.parse(JSON.stringify({ resumed, forked, history }))
}

describe.runIf(hasPostgres())('postgresStorage under LangGraph', async () => {
  const pool = new pg.Pool({ connectionString: await sharedPostgres() })
  afterAll(() => pool.end())
  const langgraphSerde = new MemorySaver().serde

  test("leaves the same history as LangGraph's own saver, with messages as messages", async () => {
    const { checkpointer } = postgresStorage({ pool, schema: 'graphs', serde: langgraphSerde })
    const ours = (await converse(checkpointer)) as { history: unknown[]; resumed: { seen: string[] } }
    expect(ours).toEqual(await converse(new MemorySaver()))
    expect(ours.history.length).toBeGreaterThan(10)
    expect(ours.resumed.seen).toEqual(['HumanMessage', 'AIMessage'])
    const { checkpointer: plain } = postgresStorage({ pool, schema: 'graphs' })
    const config = { configurable: { thread_id: 't' } }
    expect(
      (await build(plain.withSerde!(langgraphSerde)).getState(config)).values.messages[0],
    ).toBeInstanceOf(HumanMessage)
  })

  test('a fenced run stops writing the moment another takes its lease', async () => {
    const { store, checkpointer, close } = postgresStorage({ pool, schema: 'graphs' })
    const take = (token: number) =>
      store.commit('fenced', { ops: [{ op: 'claim', owner: `${token}`, token, ttlMs: 60_000 }] })
    await take(1)
    const graph = new StateGraph(State)
      .addNode('one', () => ({ parts: ['one'] }))
      .addNode('two', async () => {
        await take(2)
        return { parts: ['two'] }
      })
      .addNode('three', () => ({ parts: ['three'] }))
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', 'three')
      .addEdge('three', END)
      .compile({ checkpointer: fencedCheckpointer(checkpointer, store, 'fenced', 1) as BaseCheckpointSaver })
    const config = { configurable: { thread_id: 'fenced' } }
    await expect(graph.invoke({}, { ...config, durability: 'sync' })).rejects.toThrow(FencedError)
    expect((await checkpointer.get(config))?.channel_values.parts).toEqual(['one'])
    await close()
  })
})
