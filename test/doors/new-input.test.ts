import { randomUUID } from 'node:crypto'
import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { Agent } from '../../src/index.ts'
import { supervised } from '../fixtures/graphs.ts'
import { request } from '../kit/client.ts'
import type { Json } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { DOORS } from './all.ts'

/** A release without the node that asks in the earlier one. */
const renamed = () =>
  langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('reply', ({ messages }) => ({
        messages: [{ role: 'assistant', content: `You said: ${messages.at(-1)!.text}` }],
      }))
      .addEdge(START, 'reply')
      .compile(),
  )

/** An agent that a new release replaces while the server runs, and its clients stay. */
function deployed(first: Agent) {
  let current = first
  const agent = new Proxy(first, { get: (_, key) => Reflect.get(current, key) })
  return { agent, release: (next: Agent) => void (current = next) }
}

/** Asks in a node of this name, after one that each release has. */
const asks = (name: string) =>
  langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('begin', () => ({}))
      .addNode(name, () => ({ messages: [{ role: 'assistant', content: String(interrupt('Which?')) }] }))
      .addEdge(START, 'begin')
      .addEdge('begin', name as never)
      .compile(),
  )

/** Asks in one branch and fails in another. Says each other message again. */
const halfFailing = () =>
  langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('ask', () => ({ messages: [{ role: 'assistant', content: String(interrupt('Which?')) }] }))
      .addNode('fail', async () => {
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('the branch has failed')
      })
      .addNode('reply', ({ messages }) => ({
        messages: [{ role: 'assistant', content: `You said: ${messages.at(-1)!.text}` }],
      }))
      .addConditionalEdges(START, ({ messages }) =>
        messages.at(-1)!.text === 'both' ? ['ask', 'fail'] : ['reply'],
      )
      .compile(),
  )

async function served(first: Agent) {
  const { agent, release } = deployed(first)
  const { origin, server } = await serveAgents({
    agents: { agent },
    faces: DOORS.flatMap(({ faces }) => faces),
  })
  const waiting = async () =>
    (await request(origin, 'POST', '/threads/search', { status: 'interrupted' })).body.length as number
  return { origin, server, release, waiting }
}

describe.each(DOORS)('$name', ({ name, open }) => {
  test('a message after a release that has no node with the question is a new input', async () => {
    const { origin, release, waiting } = await served(langgraph(supervised()))
    const place = { origin, threadId: randomUUID(), agent: 'agent' }
    const client = open(place)
    expect(await client.send('What is 2 + 3?')).toMatchObject({ end: 'asks' })
    expect(await waiting()).toBe(1)
    release(renamed())
    // The client of AG-UI itself sends no message while it knows a question. A page that is opened knows none.
    const later = name === 'AG-UI' ? open(place) : client
    expect(await later.send('hello')).toMatchObject({ end: 'completed' })
    expect(await waiting()).toBe(0)
    const [thread] = (await request(origin, 'POST', '/threads/search', {})).body
    expect(thread.values.messages.at(-1).content).toBe('You said: hello')
  })

  test('a message after a run that failed with a question open is a new input', async () => {
    const { origin } = await served(halfFailing())
    const place = { origin, threadId: randomUUID(), agent: 'agent' }
    const client = open(place)
    expect(await client.send('both')).toMatchObject({ end: 'failed' })
    const [failed] = (await request(origin, 'POST', '/threads/search', {})).body
    expect(failed.error).toBeTruthy()
    expect(Object.values(failed.interrupts).flat()).toMatchObject([{ value: 'Which?' }])
    expect(await client.send('hello')).toMatchObject({ end: 'completed' })
    const all = (await request(origin, 'POST', '/threads/search', {})).body
    expect(all.map((one: Json) => one.values.messages.at(-1).content)).toContain('You said: hello')
  })
})

test('a message that is injected after such a release is added to the thread', async () => {
  const { origin, release, waiting, server } = await served(asks('ask'))
  const threadId = randomUUID()
  const { engine } = server
  const input = { messages: [{ role: 'user', content: 'What is 2 + 3?' }] }
  const { runId } = await engine.start({ threadId, assistantId: 'agent', input })
  await engine.wait({ threadId, runId })
  const inject = async () =>
    (
      await request(origin, 'POST', `/threads/${threadId}/commands`, {
        id: 1,
        method: 'input.inject',
        params: { message: { role: 'user', content: 'hello' } },
      })
    ).body
  expect(await inject()).toMatchObject({ type: 'error', error: 'not_supported' })
  release(asks('question'))
  expect(await inject()).toMatchObject({ type: 'success' })
  expect(await waiting()).toBe(0)
  const state = await engine.readState((await engine.findThread({ threadId }))!)
  expect(state!.values.messages).toMatchObject([{}, { content: 'hello' }])
})
