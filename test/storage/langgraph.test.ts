import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from '@langchain/core/messages'
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
import { describe, expect, test } from 'vitest'
import { fencedCheckpointer } from '../../src/storage/checkpointer/fenced.ts'
import type { DurableStorage } from '../../src/storage/durable.ts'
import { FencedError } from '../../src/storage/errors.ts'
import { type MemoryCheckpointer, memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { durableBackends } from './durable.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  parts: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  notes: Annotation<Record<string, unknown>>(),
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
      messages: [new AIMessage({ content: `reply ${messages.length}`, id: `ai${messages.length}` })],
      notes: { seen: messages.length, when: [1, { deep: true }] },
    }))
    .addNode('part', ({ name }: { name: string }) => ({ parts: [name] }))
    .addNode('sub', sub)
    .addNode('ask', () => ({ parts: [`answer ${interrupt({ question: 'go on?' })}`] }))
    .addEdge(START, 'model')
    .addConditionalEdges('model', () => ['b', 'a'].map((name) => new Send('part', { name })))
    .addEdge('part', 'sub')
    .addEdge('sub', 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer })
}

const thread = (id: string, checkpoint?: string) => ({
  configurable: checkpoint === undefined ? { thread_id: id } : { thread_id: id, checkpoint_id: checkpoint },
})
const human = (content: string) => ({ messages: [new HumanMessage({ content, id: content })] })

/** What a conversation with an interrupt, a second turn, a fork and an update leaves behind, without its ids. */
async function converse(checkpointer: BaseCheckpointSaver): Promise<unknown> {
  // A new graph each time, as after a restart.
  const config = thread('t')
  await build(checkpointer).invoke(human('one'), config)
  const waiting = await build(checkpointer).getState(config)
  const resumed = await build(checkpointer).invoke(new Command({ resume: 'yes' }), config)
  await build(checkpointer).invoke(human('two'), config)
  await build(checkpointer).updateState(config, { parts: ['edited'] }, 'sub')
  const forked = await build(checkpointer).invoke(new Command({ resume: 'fork' }), waiting.config)
  const history = []
  for await (const { values, next, metadata, tasks } of build(checkpointer).getStateHistory(config)) {
    history.push({
      values,
      next,
      source: metadata?.source,
      step: metadata?.step,
      interrupts: tasks.flatMap((task) => task.interrupts.map(({ value }) => value)),
    })
  }
  return JSON.parse(JSON.stringify({ resumed, forked, history }))
}

/** A store and a saver over one database, which revives messages. */
type Opened =
  | Pick<DurableStorage, 'store' | 'checkpointer'>
  | { store: Store; checkpointer: MemoryCheckpointer }

const memory = {
  name: 'memory',
  create: async () => (): Opened => ({ store: memoryStore(), checkpointer: memoryCheckpointer() }),
}

describe.each([memory, ...durableBackends()])('the saver of $name under LangGraph', ({ create }) => {
  const opened = async (): Promise<Opened> => (await create())({ serde: new MemorySaver().serde })

  test("leaves the same history as LangGraph's own saver", async () => {
    const ours = await converse((await opened()).checkpointer)
    expect(ours).toEqual(await converse(new MemorySaver()))
    expect((ours as { history: unknown[] }).history.length).toBeGreaterThan(10)
  })

  test('stops a fenced run the moment another takes its lease', async () => {
    const { store, checkpointer: saver } = await opened()
    const take = (token: number) =>
      store.commit('t', { ops: [{ op: 'claim', owner: `${token}`, token, ttlMs: 60_000 }] })
    const partsOf = async () => (await saver.getTuple(thread('t')))?.checkpoint.channel_values.parts
    await take(1)
    const graph = new StateGraph(State)
      .addNode('one', () => ({ parts: ['one'] }))
      .addNode('two', async () => {
        // Some releases of LangGraph begin a node while the checkpoint before it is still being written.
        await expect.poll(partsOf).toEqual(['one'])
        await take(2)
        return { parts: ['two'] }
      })
      .addNode('three', () => ({ parts: ['three'] }))
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', 'three')
      .addEdge('three', END)
      .compile({ checkpointer: fencedCheckpointer(saver, store, 't', 1) as BaseCheckpointSaver })
    const running = graph.invoke({}, { ...thread('t'), durability: 'sync' })
    await expect(running).rejects.toThrow(FencedError)
    expect(await partsOf()).toEqual(['one'])
  })
})

describe('memoryCheckpointer under LangGraph', () => {
  test('gives messages back as messages, and new ones each time', async () => {
    const graph = build(memoryCheckpointer())
    await graph.invoke(human('hi'), thread('t'))
    const read = async () => (await graph.getState(thread('t'))).values.messages as BaseMessage[]
    const [first, reply] = await read()
    expect(first).toBeInstanceOf(HumanMessage)
    expect(reply).toBeInstanceOf(AIMessage)
    reply!.content = 'tampered'
    Object.assign(reply!.response_metadata, { tampered: true })
    const again = await read()
    expect(again[1]!.content).toBe('reply 1')
    expect(again[1]!.response_metadata).toEqual({})
  })

  test('keeps older checkpoints as they were when a node mutates the state it is given', async () => {
    const graph = new StateGraph(State)
      .addNode('one', () => ({
        notes: { list: [1] },
        messages: [new AIMessage({ content: 'first', id: 'a' })],
      }))
      .addNode('two', (state) => {
        ;(state.notes.list as number[]).push(2)
        state.messages[0]!.content = 'mutated'
        return { notes: state.notes, messages: [new RemoveMessage({ id: 'unheard' })].slice(1) }
      })
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', END)
      .compile({ checkpointer: memoryCheckpointer() })
    await graph.invoke({}, thread('t'))
    const seen: unknown[] = []
    for await (const { values, next } of graph.getStateHistory(thread('t'))) {
      if (next[0] === 'two') seen.push(values.notes, values.messages[0].content)
    }
    expect(seen).toEqual([{ list: [1] }, 'first'])
  })

  test('keeps what it must of a long conversation: its changes, not a copy of the whole per step', async () => {
    const saver = memoryCheckpointer()
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', ({ messages }) => ({
        messages: [new AIMessage({ content: 'x', id: `a${messages.length}` })],
      }))
      .addEdge(START, 'model')
      .addEdge('model', END)
      .compile({ checkpointer: saver })
    for (let turn = 0; turn < 30; turn++) await graph.invoke(human(`turn ${turn}`), thread('t'))
    const tuple = (await saver.getTuple(thread('t')))!
    expect((tuple.checkpoint.channel_values.messages as unknown[]).length).toBe(60)
    const parent = (await saver.getTuple(tuple.parentConfig!))!
    expect((parent.checkpoint.channel_values.messages as unknown[]).length).toBe(59)
  })

  test('forks from an older checkpoint without touching the other branch', async () => {
    const graph = build(memoryCheckpointer())
    await graph.invoke(human('one'), thread('t'))
    const waiting = (await graph.getState(thread('t'))).config
    const left = await graph.updateState(waiting, { parts: ['left'] }, 'sub')
    const right = await graph.updateState(waiting, { parts: ['right'] }, 'sub')
    const parts = async (config: typeof left) => (await graph.getState(config)).values.parts.slice(-2)
    expect([await parts(left), await parts(right)].map(([, last]) => last)).toEqual(['left', 'right'])
    await graph.invoke(new Command({ resume: 'one' }), left)
    expect(await parts(thread('t') as typeof left)).toEqual(['left', 'answer one'])
    await graph.invoke(new Command({ resume: 'two' }), right)
    expect(await parts(thread('t') as typeof left)).toEqual(['right', 'answer two'])
    expect([await parts(left), await parts(right)].map(([, last]) => last)).toEqual(['left', 'right'])
  })
})
