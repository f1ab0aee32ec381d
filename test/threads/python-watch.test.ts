import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { inOrder, nestedApproval, toolAgent } from '../fixtures/graphs.ts'
import { openStream } from '../kit/client.ts'
import type { WireEvent } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { openSocket, socketUrl } from '../kit/socket.ts'

/** How LangGraph's Python client watches a thread, and takes the end of any namespace for the end of the run. */
const WATCH = ['lifecycle', 'input']
const OVER_HTTP = ['langgraph-sdk-py/0.4.5', 'python-httpx/0.28.1']
const OVER_SOCKETS = ['Python/3.11 websockets/16.1.1']

async function serve() {
  const tools = toolAgent(inOrder({ toolCalls: [{ id: 'c1', name: 'report', args: {} }] }, { text: 'Done.' }))
  const host = await serveAgents({
    agents: { tools: langgraph(tools), ask: langgraph(nestedApproval()) },
  })
  const thread = host.thread()
  await thread.start({ messages: [{ type: 'human', content: 'Q', id: 'h1' }] }, { assistant_id: 'tools' })
  const all = (await thread.transcript()).filter(({ method }) => method === 'lifecycle')
  return { ...host, thread, all, url: `${host.origin}/threads/${thread.id}/stream/events` }
}

const isLast =
  (all: readonly WireEvent[]) =>
  (events: readonly WireEvent[]): boolean =>
    events.at(-1)?.seq === all.at(-1)!.seq

const ofTheRun = ({ params }: WireEvent) => params.namespace.length === 0

test.each(OVER_HTTP)('%s is told of the begin and the end of the run alone', async (agent) => {
  const { url, all } = await serve()
  expect(all.some(({ params }) => params.data.event === 'completed' && params.namespace.length > 0)).toBe(
    true,
  )
  const stream = await openStream(url, { channels: WATCH, since: 0 }, { 'user-agent': agent })
  expect(await stream.until(isLast(all))).toEqual(all.filter(ofTheRun))
})

test.each(OVER_SOCKETS)('%s is told the same over a web socket', async (agent) => {
  const { origin, thread, all } = await serve()
  const socket = await openSocket(socketUrl(origin, thread.id), { headers: { 'user-agent': agent } })
  await socket.command('subscription.subscribe', { channels: WATCH, since: 0 })
  expect(await socket.until(isLast(all))).toEqual(all.filter(ofTheRun))
})

test('a question below the run is told', async () => {
  const { origin, thread: other } = await serve()
  const thread = `${other.id}-ask`
  const watch = await openStream(
    `${origin}/threads/${thread}/stream/events`,
    { channels: WATCH },
    { 'user-agent': OVER_HTTP[0]! },
  )
  const socket = await openSocket(socketUrl(origin, thread))
  await socket.command('run.start', { assistant_id: 'ask', input: {} })
  const events = await watch.until((seen) => seen.some(({ params }) => params.data.event === 'interrupted'))
  const told = events.map(({ method, params }) => [method, params.namespace.length > 0])
  expect(told).toEqual([
    ['lifecycle', false],
    ['input.requested', true],
    ['lifecycle', false],
  ])
})

test('every other client and every other filter gets what it asks for', async () => {
  const { url, all } = await serve()
  for (const [agent, filter] of [
    ['node', { channels: WATCH }],
    ['langgraph-sdk-py/0.4.5', { channels: ['lifecycle'] }],
    ['langgraph-sdk-py/0.4.5', { channels: ['input', 'lifecycle'] }],
    ['langgraph-sdk-py/0.4.5', { channels: WATCH, namespaces: [[]] }],
  ] as const) {
    const stream = await openStream(url, { ...filter, since: 0 }, { 'user-agent': agent })
    expect(await stream.until(isLast(all))).toEqual(all)
    stream.close()
  }
})
