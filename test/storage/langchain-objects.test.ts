import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { PromptTemplate } from '@langchain/core/prompts'
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { langchainSerde } from '../../src/agents/langgraph/saver-views.ts'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import { fencedCheckpointer } from '../../src/storage/checkpointer/fenced.ts'
import { FencedError } from '../../src/storage/errors.ts'
import { createGraphStore } from '../../src/storage/graph-store/index.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { serveAgents } from '../kit/host.ts'
import { durableBackends } from './durable.ts'

interface Kept {
  readonly last: BaseMessage
  readonly prompts: ReadonlyMap<string, PromptTemplate>
  readonly tags: ReadonlySet<string>
  readonly at: Date
}

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  kept: Annotation<Kept>(),
  /** What the last run saw of what the run before had kept. */
  seen: Annotation<unknown>(),
})

const keep = (): Kept => ({
  last: new AIMessage({ content: 'kept', id: 'a1', tool_calls: [{ name: 'f', args: { x: [1] }, id: 'c1' }] }),
  prompts: new Map([['one', PromptTemplate.fromTemplate('Hi {name}')]]),
  tags: new Set(['a', 'b']),
  at: new Date(1_700_000_000_000),
})

function build(checkpointer?: Checkpointer) {
  return new StateGraph(State)
    .addNode('look', ({ kept, messages }) => ({
      seen: kept && [
        kept.last instanceof AIMessage && kept.last.tool_calls?.[0]?.args.x,
        kept.prompts.get('one') instanceof PromptTemplate && kept.prompts.get('one')?.template,
        [...kept.tags],
        kept.at.getTime(),
        messages.every((message) => HumanMessage.isInstance(message) || AIMessage.isInstance(message)),
      ],
      kept: keep(),
    }))
    .addEdge(START, 'look')
    .addEdge('look', END)
    .compile({ checkpointer: checkpointer as BaseCheckpointSaver | undefined })
}

const SEEN = [[1], 'Hi {name}', ['a', 'b'], 1_700_000_000_000, true]
const input = (id: string) => ({ messages: [new HumanMessage({ content: 'hi', id })] })
const config = { configurable: { thread_id: 't' } }

async function run(agent: ReturnType<typeof langgraph>, checkpointer: Checkpointer, id: string) {
  const start = { kind: 'input', value: input(id) } as const
  const { signal } = new AbortController()
  const task = {
    threadId: 't',
    runId: id,
    assistantId: 'a',
    start,
    config: { configurable: {} },
    principal: null,
    checkpointer,
    graphStore: createGraphStore(memoryStore(), null),
  }
  for await (const _ of agent.stream({ ...task, signal })) {
    // Until it ends.
  }
}

describe.each(durableBackends())('objects in the state of a graph on $name', ({ create }) => {
  test('come back as they were when a new process goes on', async () => {
    const open = await create()
    const before = open()
    await run(langgraph(build()), before.checkpointer, 'r1')
    await before.close()
    const { checkpointer } = open()
    await run(langgraph(build()), checkpointer, 'r2')
    const tuple = await checkpointer.getTuple(config)
    expect(tuple?.checkpoint.channel_values.seen).toEqual(SEEN)
  })

  test('are instances to who reads the state through the graph, and in its history and forks', async () => {
    const open = await create()
    const agent = langgraph(build())
    await run(agent, open().checkpointer, 'r1')
    const { checkpointer } = open()
    const saver = checkpointer.withSerde!(langchainSerde)
    const { values } = await build(saver).getState(config)
    expect(values.messages[0]).toBeInstanceOf(HumanMessage)
    expect(values.kept.last).toBeInstanceOf(AIMessage)
    expect(values.kept.prompts.get('one')).toBeInstanceOf(PromptTemplate)
    const snapshot = (await agent.getState({ threadId: 't', checkpointer }))!
    expect(snapshot.values.kept).toMatchObject({ last: { type: 'ai', content: 'kept' }, tags: ['a', 'b'] })
    const update = { values: { messages: [{ type: 'human', content: 'more', id: 'h2' }] } }
    await agent.updateState({ threadId: 't', checkpointer }, update)
    await run(agent, checkpointer, 'r2')
    const last = (await checkpointer.getTuple(config))!
    expect(last.checkpoint.channel_values.seen).toEqual(SEEN)
    expect(last.checkpoint.channel_values.messages).toHaveLength(3)
  })

  test('reach the next run of a server that was started anew', async () => {
    const open = await create()
    for (const id of ['h1', 'h2']) {
      const { store, checkpointer, close } = open()
      const host = await serveAgents({ agents: { a: langgraph(build()) }, store, checkpointer })
      const thread = host.thread('t')
      await thread.start({ messages: [{ type: 'human', content: 'hi', id }] })
      await thread.idle()
      const { values } = (await thread.get('/state')).body
      expect(values.seen).toEqual(id === 'h1' ? undefined : SEEN)
      expect(values.messages.map((message: BaseMessage) => message.type)).toEqual(
        id === 'h1' ? ['human'] : ['human', 'human'],
      )
      await host.server.close()
      await close()
    }
  })

  test('are left to the serde that was chosen', async () => {
    const open = await create()
    const used: string[] = []
    const { serde: inner } = new MemorySaver()
    const serde = {
      dumpsTyped: (value: unknown) => inner.dumpsTyped(value),
      async loadsTyped(type: string, data: Uint8Array | string) {
        used.push(type)
        return inner.loadsTyped(type, data)
      },
    }
    const { checkpointer } = open({ serde })
    expect('withSerde' in checkpointer).toBe(false)
    expect('withSerde' in open().checkpointer.withSerde!(serde)).toBe(false)
    const agent = langgraph(build())
    await run(agent, checkpointer, 'r1')
    await agent.getState({ threadId: 't', checkpointer })
    expect(used).toContain('json')
  })

  test.each(['its own store', 'another store'])(
    'a fence stays on a view with another serde: %s',
    async (at) => {
      const open = await create()
      const { checkpointer, ...own } = open()
      const store = at === 'its own store' ? own.store : memoryStore()
      const claim = (token: number) =>
        store.commit('t', { ops: [{ op: 'claim', owner: 'o', token, ttlMs: 60_000 }] })
      await claim(1)
      const views = [
        fencedCheckpointer(checkpointer, store, 't', 1).withSerde!(langchainSerde),
        fencedCheckpointer(checkpointer.withSerde!(langchainSerde), store, 't', 1),
      ]
      for (const [i, view] of views.entries()) {
        await build(view).invoke(input(`h${i}`), config)
        expect((await build(view).getState(config)).values.kept.last).toBeInstanceOf(AIMessage)
      }
      await claim(2)
      for (const view of views) {
        await expect(build(view).invoke(input('late'), config)).rejects.toThrow(FencedError)
      }
      expect((await build(checkpointer).getState(config)).values.messages).toHaveLength(2)
    },
  )
})
