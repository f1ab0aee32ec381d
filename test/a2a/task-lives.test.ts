import { createServer } from 'node:http'
import { AIMessage } from '@langchain/core/messages'
import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { expect, onTestFinished, test, vi } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { ThreadRecord } from '../../src/engine/index.ts'
import { type Agent, type AgentServer, createAgentServer, defineAgent, textOf } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { openServer } from '../kit/listen.ts'
import { eventually } from '../kit/wait.ts'

/** Works until it is told to stop, or asks, as the text says. */
const agent = defineAgent({
  async run({ messages, interrupt, message, signal }) {
    const text = textOf(messages.at(-1)!)
    if (text === 'ask') await interrupt('Which?')
    if (text === 'work')
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    await message(`did ${text}`)
  },
})

function serve(served: Agent = agent) {
  const store = memoryStore()
  const server = createAgentServer({
    agents: { agent: served },
    store,
    onError: () => {},
    a2a: { push: { allowLoopback: true } },
  })
  onTestFinished(() => server.close())
  return { server, store }
}

let sent = 0
const messageOf = (text: string, ids: object) => ({
  messageId: `m${++sent}`,
  role: 'ROLE_USER',
  parts: [{ text }],
  ...ids,
})

const post = (server: AgentServer, method: string, params: object): Promise<Response> =>
  server.fetch(
    new Request('http://a/a2a/agent', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    }),
  )

// biome-ignore lint/suspicious/noExplicitAny: an answer of any method
async function call(server: AgentServer, method: string, params: object): Promise<any> {
  const { result, error } = (await (await post(server, method, params)).json()) as Record<string, unknown>
  if (error) throw Object.assign(new Error(JSON.stringify(error)), { code: (error as { code: number }).code })
  return result
}

const send = async (server: AgentServer, text: string, ids: object, returnImmediately = false) =>
  (await call(server, 'SendMessage', { message: messageOf(text, ids), configuration: { returnImmediately } }))
    .task

async function threadOf({ engine }: AgentServer): Promise<ThreadRecord> {
  for await (const thread of engine.listThreads()) return thread
  throw new Error('There is no thread.')
}

test('a context goes on after an answer has failed and left its question open', async () => {
  let runs = 0
  const node = () => {
    if (++runs === 2) throw new Error('no')
    return runs === 1 ? interrupt('Which?') : { messages: [new AIMessage('done')] }
  }
  const graph = new StateGraph(MessagesAnnotation).addNode('ask', node).addEdge(START, 'ask').compile()
  const { server } = serve(langgraph(graph))
  const asked = await send(server, 'hi', { contextId: 'c' })
  const failed = await send(server, 'blue', { taskId: asked.id })
  expect(failed.status.state).toBe('TASK_STATE_FAILED')
  expect((await threadOf(server)).interrupts).toHaveLength(1)
  const next = await send(server, 'more', { contextId: 'c' })
  expect(next.status.state).toBe('TASK_STATE_COMPLETED')
  expect(next.id).not.toBe(asked.id)
})

test('a context goes on after a task was cancelled that had asked', async () => {
  const { server } = serve()
  const asked = await send(server, 'ask', { contextId: 'c' })
  await expect(send(server, 'more', { contextId: 'c' })).rejects.toMatchObject({ code: -32602 })
  const cancelled = await call(server, 'CancelTask', { id: asked.id })
  expect(cancelled.status.state).toBe('TASK_STATE_CANCELED')
  const next = await send(server, 'more', { contextId: 'c' })
  expect(next.status.state).toBe('TASK_STATE_COMPLETED')
})

test('a task is canceled when its conversation goes on over /threads without an answer', async () => {
  const { server } = serve()
  const asked = await send(server, 'ask', { contextId: 'c' })
  const page = await call(server, 'ListTasks', { contextId: 'c' })
  expect(page).toMatchObject({ totalSize: 1, tasks: [{ id: asked.id }] })
  const thread = await threadOf(server)
  const { runId } = await server.engine.start({
    threadId: thread.threadId,
    input: { messages: [{ type: 'human', content: 'else' }] },
    answer: { details: { contextId: 'c', messageId: 'x' } },
  })
  await server.engine.wait({ threadId: thread.threadId, runId })
  const task = await call(server, 'GetTask', { id: asked.id })
  expect(task.status.state).toBe('TASK_STATE_CANCELED')
  expect(task.status.message.parts).toEqual([{ text: 'The conversation continued without an answer.' }])
})

test('a task that works while its message is withdrawn is waited for, streamed and told to webhooks', async () => {
  const { server, store } = serve()
  let told = 0
  const hook = createServer((_, response) => {
    told++
    response.writeHead(200).end()
  })
  const { origin, close } = await openServer(hook)
  onTestFinished(close)
  const works = await send(server, 'work', { contextId: 'c' }, true)
  await call(server, 'CreateTaskPushNotificationConfig', { taskId: works.id, url: `${origin}/hook` })
  const streamed = await post(server, 'SendStreamingMessage', {
    message: messageOf('more', { taskId: works.id }),
  })
  const waits = send(server, 'and more', { taskId: works.id })
  const thread = await threadOf(server)
  const { threadId } = thread
  await eventually(async () => (await server.engine.measure()).queued === 2)
  const { queue } = (await server.engine.findThread({ threadId }))!
  for (const { runId } of queue) await server.engine.cancel({ threadId, runId })
  await eventually(() => told > 0)
  // Whoever follows the task waits, and does not ask the store again and again.
  const asks = vi.spyOn(store, 'get')
  const before = told
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(told).toBe(before)
  expect(asks.mock.calls.length).toBeLessThan(20)
  await call(server, 'CancelTask', { id: works.id })
  expect((await waits).status.state).toBe('TASK_STATE_CANCELED')
  const events = (await streamed.text()).split('\n').filter((line) => line.startsWith('data:'))
  const last = JSON.parse(events.at(-1)!.slice(5))
  expect(last.result.statusUpdate.status.state).toBe('TASK_STATE_CANCELED')
})

test('a task can be cancelled when the records of its earlier runs are gone', async () => {
  const { server, store } = serve()
  const works = await send(server, 'work', { contextId: 'c' }, true)
  const more = await send(server, 'work', { taskId: works.id }, true)
  expect(more.id).toBe(works.id)
  const thread = await threadOf(server)
  const { threadId, lastRunId } = thread
  await server.engine.cancel({ threadId, runId: lastRunId! })
  await server.engine.wait({ threadId, runId: lastRunId! })
  await store.commit(threadId, { ops: [{ op: 'delete', collection: 'runs', id: lastRunId! }] })
  const cancelled = await call(server, 'CancelTask', { id: works.id })
  expect(cancelled.status.state).toBe('TASK_STATE_CANCELED')
})

test('a deleted thread ends the streams, the lists and the webhooks of its tasks', async () => {
  const { server, store } = serve()
  const asked = await send(server, 'ask', { contextId: 'c' })
  await call(server, 'CreateTaskPushNotificationConfig', { taskId: asked.id, url: 'http://127.0.0.1:9/hook' })
  const follows = await post(server, 'SubscribeToTask', { id: asked.id })
  const reads = follows.text()
  const thread = await threadOf(server)
  await server.engine.deleteThread({ threadId: thread.threadId })
  await reads
  await expect(call(server, 'GetTask', { id: asked.id })).rejects.toMatchObject({ code: -32001 })
  expect(await call(server, 'ListTasks', {})).toMatchObject({ tasks: [], totalSize: 0 })
  await new Promise((resolve) => setTimeout(resolve, 100))
  for (const collection of ['answers', 'a2a_push_configs', 'jobs', 'runs', 'threads', 'commands'])
    expect((await store.list(collection)).docs).toEqual([])
})
