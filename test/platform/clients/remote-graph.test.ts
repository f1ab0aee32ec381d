import { setTimeout as sleep } from 'node:timers/promises'
import { type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { Command, END, GraphInterrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { RemoteGraph } from '@langchain/langgraph/remote'
import { expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { approval, calculator, chat, nestedApproval } from '../../fixtures/graphs.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'

async function serve() {
  const { origin: url } = await serveAgents({
    agents: {
      chat: langgraph(chat()),
      // Its client asks for the messages of a run once that has started.
      unhurried: langgraph(
        chat(async () => {
          await sleep(300)
          return { text: 'Hello to you.' }
        }),
      ),
      calculator: langgraph(calculator()),
      approval: langgraph(approval()),
      nested: langgraph(nestedApproval()),
    },
  })
  return (graphId: string) => new RemoteGraph({ graphId, url, apiKey: 'none' })
}

const input = { messages: [{ type: 'human', content: 'go', id: 'h' }] }
const contents = (messages: readonly Json[]) => messages.map(({ content }) => content)
async function all(stream: AsyncIterable<Json>): Promise<Json[]> {
  const items: Json[] = []
  for await (const item of stream) items.push(item)
  return items
}

async function threadOn(graph: RemoteGraph): Promise<{ readonly configurable: { thread_id: string } }> {
  const { thread_id } = await (graph as Json).client.threads.create()
  return { configurable: { thread_id } }
}

test('a remote graph is invoked, with a thread of its own and on one that is there', async () => {
  const graph = (await serve())('chat')
  expect(contents((await graph.invoke(input)).messages)).toEqual(['go', 'Hello to you.'])
  const config = await threadOn(graph)
  await graph.invoke(input, config)
  const again = await graph.invoke({ messages: [{ type: 'human', content: 'more', id: 'h2' }] }, config)
  expect(contents(again.messages)).toEqual(['go', 'Hello to you.', 'more', 'Hello to you.'])
})

test('a remote graph streams in one mode, in several, with subgraphs and its messages', async () => {
  const remote = await serve()
  const graph = remote('chat')
  const values = await all(await graph.stream(input, { streamMode: 'values' }))
  expect(values.map(({ messages }) => messages.length)).toEqual([1, 2])
  const both = await all(await graph.stream(input, { streamMode: ['updates', 'values'] }))
  expect(both.map(([mode]) => mode)).toEqual(['values', 'updates', 'values'])
  const tokens = await all(await graph.stream(input, { streamMode: 'messages' }))
  expect(tokens.map(([message]) => message.content).join('')).toBe('Hello to you.')
  const nested: Json[] = []
  const stopped = async () => {
    const config = { streamMode: 'updates', subgraphs: true } as const
    for await (const chunk of await remote('nested').stream({ notes: ['in'] }, config)) nested.push(chunk)
  }
  await expect(stopped()).rejects.toThrow(GraphInterrupt)
  expect(nested).toEqual([[[expect.stringMatching(/^sub:/)], { first: { notes: ['inner'] } }]])
})

test('a remote graph gives the messages and the output of its run as they come', async () => {
  const graph = (await serve())('unhurried')
  const run = await graph.streamEvents(input, { version: 'v3' })
  const texts = []
  for await (const message of run.messages) texts.push(await message.text)
  expect(texts).toEqual(['Hello to you.'])
  expect(((await run.output) as Json).messages.map((message: BaseMessage) => message.text)).toEqual([
    'go',
    'Hello to you.',
  ])
})

test('a remote graph is interrupted, read with its subgraphs, and resumed', async () => {
  const remote = await serve()
  const graph = remote('nested')
  const config = await threadOn(graph)
  await expect(graph.invoke({ notes: ['in'] }, config)).rejects.toMatchObject({
    interrupts: [{ value: 'inner?' }],
  })
  const state = await graph.getState(config, { subgraphs: true })
  expect(state.next).toEqual(['sub'])
  expect((state.tasks[0]!.state as Json).values.notes).toEqual(['in', 'inner'])
  const done = await graph.invoke(new Command({ resume: 'yes' }), config)
  expect(done.notes).toEqual(['in', 'in', 'inner', 'answer: yes', 'after'])
  expect((await graph.getState(config)).next).toEqual([])
})

test('the state of a remote graph is updated, and its history read', async () => {
  const graph = (await serve())('approval')
  const config = await threadOn(graph)
  await expect(graph.invoke({ notes: ['in'] }, config)).rejects.toThrow(GraphInterrupt)
  const written = await graph.updateState(config, { notes: ['by hand'] }, 'ask')
  expect(written.configurable).toMatchObject({ ...config.configurable, checkpoint_id: expect.any(String) })
  expect((await graph.getState(config)).next).toEqual(['after'])
  expect((await graph.invoke(null, config)).notes).toEqual(['in', 'by hand', 'after'])
  const history = await all(graph.getStateHistory(config))
  expect(history.map(({ next }) => next)).toEqual([[], ['after'], ['ask'], ['__start__']])
  const first = await all(graph.getStateHistory(config, { limit: 1 }))
  expect(first).toHaveLength(1)
  const past = await graph.getState(history[2].config)
  expect(past.values).toEqual({ notes: ['in'] })
})

test('a remote graph is a node of another graph', async () => {
  const whole = new StateGraph(MessagesAnnotation)
    .addNode('far', (await serve())('calculator') as Json)
    .addNode('near', ({ messages }) => ({ messages: [new HumanMessage(`${messages.length} so far`)] }))
    .addEdge(START, 'far' as '__start__')
    .addEdge('far' as '__start__', 'near' as '__start__')
    .addEdge('near' as '__start__', END)
    .compile()
  const { messages } = await whole.invoke({ messages: [new HumanMessage({ content: 'go', id: 'h' })] })
  expect((messages as BaseMessage[]).at(-2)!.content).toBe('It is five.')
  expect(messages.at(-1)!.content).toMatch(/so far$/)
  const chunks = await all(
    await whole.stream(
      { messages: [new HumanMessage({ content: 'go', id: 'h' })] },
      { subgraphs: true, streamMode: 'updates' },
    ),
  )
  expect(chunks.some(([namespace]) => namespace[0]?.startsWith('far:'))).toBe(true)
})
