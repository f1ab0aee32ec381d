import { Annotation, START, StateGraph } from '@langchain/langgraph'
import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { defineAgent } from '../../src/index.ts'
import { chat } from '../fixtures/graphs.ts'
import { dataOf, rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { STORES } from '../kit/stores.ts'
import { gate } from '../kit/wait.ts'

const LENGTH = 20_000
const PHOTO = 'p'.repeat(6_000)

const echo = defineAgent({
  async run({ message }) {
    await message('Seen.')
  },
})

const cases = STORES.flatMap((store) => ['graph', 'echo'].map((agent) => ({ ...store, agent })))

test.each(cases)(
  'a chat goes on when its state is longer than an event: $name, $agent',
  async ({ create, agent }) => {
    const host = await serveAgents({
      agents: { graph: langgraph(chat()), echo },
      limits: { eventLength: LENGTH },
      ...(await (
        await create()
      )()),
    })
    const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
    const { thread_id: id } = await client.threads.create()
    const say = (text: string) =>
      client.runs.wait(id, agent, { input: { messages: [{ role: 'user', content: text }] } }) as Promise<{
        messages: { content: unknown; type: string }[]
      }>
    for (let i = 1; i <= 5; i++) {
      const { messages } = await say(PHOTO)
      expect(messages).toHaveLength(2 * i)
    }
    const { messages } = await say('hi')
    expect(messages.at(-2)!.content).toBe('hi')
    expect(messages.at(-1)!.type).toBe('ai')
    const { values } = await client.threads.getState<{ messages: unknown[] }>(id)
    expect(values.messages).toEqual(messages)

    // A stream of the SDK: nothing breaks, the message comes, and the state can be fetched when it ends.
    const modes: string[] = []
    for await (const { event } of client.runs.stream(id, agent, {
      input: { messages: [{ role: 'user', content: 'bye' }] },
      streamMode: ['values', 'messages-tuple', 'updates'],
    }))
      modes.push(event)
    expect(modes).toContain('messages')
    expect(modes).not.toContain('error')

    // Whoever opens the thread later gets its newest state first, and nothing of an older one after it.
    const late = await host.thread(id).stream()
    const events = await late.until((seen) => rootStates(seen).includes('completed'))
    const [state] = dataOf(events, 'values')
    expect(state.messages).toHaveLength(14)
    expect(dataOf(events, 'values')).toHaveLength(1)
    expect(rootStates(events)).toEqual(['running', 'completed'])
  },
)

test.each(STORES)(
  'whoever comes while the newest state is longer than an event gets it after the past: $name',
  async ({ create }) => {
    const { opened, open } = gate()
    const { opened: waits, open: isWaiting } = gate()
    const State = Annotation.Root({ text: Annotation<string>() })
    const graph = new StateGraph(State)
      .addNode('long', () => ({ text: PHOTO.repeat(4) }))
      .addNode('wait', async () => {
        isWaiting()
        await opened
        return {}
      })
      .addEdge(START, 'long')
      .addEdge('long', 'wait')
      .compile()
    const host = await serveAgents({
      agents: { agent: langgraph(graph) },
      limits: { eventLength: LENGTH },
      ...(await (
        await create()
      )()),
    })
    const thread = host.thread()
    await host.server.engine.createThread({ threadId: thread.id })
    const early = await thread.stream()
    await thread.start({ text: 'short' })
    await waits
    await early.until((seen) => dataOf(seen, 'checkpoints').some((one) => one.values_omitted))
    const late = await thread.stream({ channels: ['values', 'lifecycle'] })
    const events = await late.until((seen) => dataOf(seen, 'values').length === 2)
    expect(dataOf(events, 'values').map(({ text }) => text?.length)).toEqual([5, 4 * PHOTO.length])
    open()
    await late.until((seen) => rootStates(seen).includes('completed'))
  },
)

test('a state that is too long is told to those who read along', async () => {
  const host = await serveAgents({ agents: { echo }, limits: { eventLength: LENGTH } })
  const thread = host.thread()
  await host.server.engine.createThread({ threadId: thread.id })
  const stream = await thread.stream()
  const content = 'p'.repeat(LENGTH)
  await thread.start({ messages: [{ role: 'user', content }] })
  const events = await stream.until((seen) => rootStates(seen).includes('completed'))
  const marked = dataOf(events, 'checkpoints').filter(({ values_omitted }) => values_omitted)
  expect(marked.length).toBeGreaterThan(0)
  const { body } = await thread.get(`/state/${marked.at(-1).id}`)
  expect(body.values.messages[0].content).toBe(content)
})
