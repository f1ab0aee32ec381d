import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { readMessages, readToolCalls } from '../../../src/audit/server/transcript.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import {
  calculator,
  chat,
  endless,
  fanOut,
  inOrder,
  nestedApproval,
  researchers,
  ScriptedChatModel,
  threeSteps,
  twoApprovals,
} from '../../fixtures/graphs.ts'
import { lines, of } from '../../fixtures/tasks.ts'
import { ask, input, newThread, run, stateOf, taskOf } from '../run.ts'

const classic = { modes: [], subgraphs: false }
const notes = input({ notes: ['in'] })

test('the content of a message stays text inside of nodes, where the other way makes blocks of it', async () => {
  const seen: unknown[] = []
  const model = new ScriptedChatModel(inOrder({ text: 'begin' }))
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('look', ({ messages }) => {
      seen.push(messages.at(-1)?.content)
      return {}
    })
    .addEdge(START, 'model')
    .addEdge('model', 'look')
    .compile()
  const agent = langgraph(graph)
  await run(agent, newThread(), ask, { classic })
  await run(agent, newThread(), ask)
  expect(seen).toEqual(['begin', [expect.objectContaining({ type: 'text', text: 'begin' })]])
})

const GRAPHS = {
  'an agent with a tool': [calculator, ask],
  'a graph with a subgraph that asks': [nestedApproval, notes],
  'two questions at once': [twoApprovals, notes],
  'three steps': [() => threeSteps(), notes],
  sends: [() => fanOut(['x', 'y', 'z']), notes],
  'a deep agent': [researchers, ask],
  'a chat': [() => chat(), ask],
} as const

describe.each(Object.entries(GRAPHS))('%s in the classic way', (_, [graph, start]) => {
  test('gives clients of the protocol the same events, but for counts of tokens in between', async () => {
    const expected = await run(langgraph(graph()), newThread(), start)
    const events = await run(langgraph(graph()), newThread(), start, { classic })
    const shown = (line: string) => !line.startsWith('chunks') && !line.endsWith(' usage')
    expect(lines(events).filter(shown)).toEqual(lines(expected).filter(shown))
    expect(readMessages(events as never)).toEqual(readMessages(expected as never))
    expect(readToolCalls(events as never)).toEqual(readToolCalls(expected as never))
  })

  test('names its messages as its state does', async () => {
    const agent = langgraph(graph())
    const thread = newThread()
    const events = await run(agent, thread, start, { classic })
    const { messages = [] } = (await stateOf(agent, thread)).values as {
      messages?: readonly { id: string }[]
    }
    const started = of(events, 'messages')
      .filter(
        ({ namespace, data }) =>
          namespace.length === 1 && (data as { event: string }).event === 'message-start',
      )
      .map(({ data }) => (data as { id: string }).id)
    expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining(started))
  })
})

test('too many steps fail with the error of LangGraph', async () => {
  const config = { configurable: {}, recursionLimit: 3 }
  await expect(run(langgraph(endless()), newThread(), notes, { classic, config })).rejects.toMatchObject({
    name: 'GraphRecursionError',
  })
})

test.each([
  ['classic', classic],
  ['of the protocol', undefined],
])('a run stops before the nodes that it names, and goes on without them: %s', async (_, way) => {
  const agent = langgraph(threeSteps())
  const thread = newThread()
  const config = { configurable: {}, interruptBefore: ['two'] }
  const events = await run(agent, thread, notes, { classic: way, config })
  expect(of(events, 'lifecycle').at(-1)?.data).toEqual({ event: 'interrupted' })
  expect((await stateOf(agent, thread)).next).toEqual(['two'])
  await run(agent, thread, input(null), { classic: way })
  expect((await stateOf(agent, thread)).values.notes).toEqual(['in', 'one', 'two', 'three'])
})

test('a cancelled run keeps what it has written, and ends the message', async () => {
  const stop = new AbortController()
  const model = new ScriptedChatModel(inOrder({ text: 'one two three four' }))
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }, config) => {
      for await (const chunk of await model.stream(messages, config))
        if (chunk.text.startsWith('two'))
          await new Promise((_, reject) => config.signal?.addEventListener('abort', reject))
      return {}
    })
    .addEdge(START, 'model')
    .compile()
  const agent = langgraph(graph)
  const thread = newThread()
  let save: (() => Promise<readonly AgentEvent[]>) | undefined
  const task = taskOf(thread, ask, { classic, signal: stop.signal, onStop: (work) => (save = work) })
  const written: string[] = []
  await expect(async () => {
    for await (const { data } of agent.stream(task)) {
      const { delta } = data as { delta?: { text?: string } }
      if (delta?.text) written.push(delta.text)
      if (written.length === 2) stop.abort()
    }
  }).rejects.toThrow()
  const ends = (await save?.()) ?? []
  expect(ends.map(({ method }) => method)).toEqual(['messages', 'messages', 'checkpoints', 'values'])
  const { messages } = (await stateOf(agent, thread)).values as { messages: readonly { content: unknown }[] }
  expect(messages.at(-1)?.content).toBe('one two ')
})
