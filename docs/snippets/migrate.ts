import assert from 'node:assert/strict'
import { MemorySaver } from '@langchain/langgraph'
import { createEmbedServer, type ThreadSaver } from '@langchain/langgraph-api/experimental/embed'

// #region embed
import { AIMessage } from '@langchain/core/messages'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { createAgentServer } from 'agentwire'
import { langgraph } from 'agentwire/langgraph'

const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', ({ messages }) => ({ messages: [new AIMessage(`You said: ${messages.at(-1)?.text}`)] }))
  .addEdge('__start__', 'answer')
  .compile()

// createEmbedServer({ graph: { agent: graph }, threads, checkpointer, store }) becomes
const server = createAgentServer({ agents: { agent: langgraph(graph) } })
// #endregion

// #region move
import { Client } from '@langchain/langgraph-sdk'

/** Takes a thread to another server: its metadata and newest state, under the same id. */
async function moveThread(from: Client, to: Client, threadId: string): Promise<void> {
  const { metadata } = await from.threads.get(threadId)
  const [newest, before] = await from.threads.getHistory(threadId, { limit: 2 })
  await to.threads.create({ threadId, metadata: metadata ?? {}, ifExists: 'do_nothing' })
  if (!newest?.checkpoint.checkpoint_id) return
  const asNode = before?.next[0] // the node that made the newest state: what comes next follows from it
  await to.threads.updateState(threadId, { values: newest.values, ...(asNode && { asNode }) })
}
// #endregion

const saved = new Map<string, Awaited<ReturnType<ThreadSaver['get']>>>()
const threads: ThreadSaver = {
  async get(id) {
    return saved.get(id) ?? { thread_id: id, metadata: {} }
  },
  async set(id, { metadata }) {
    const thread = { thread_id: id, metadata: { ...saved.get(id)?.metadata, ...metadata } }
    saved.set(id, thread)
    return thread
  },
  async delete(id) {
    saved.delete(id)
  },
}
const embed = createEmbedServer({ graph: { agent: graph }, threads, checkpointer: new MemorySaver() })
const clientOf = (fetch: (request: Request) => Response | Promise<Response>) =>
  new Client({
    apiUrl: 'http://in.process',
    callerOptions: {
      fetch: async (url: string, init?: RequestInit) => fetch(new Request(url, init)),
      maxRetries: 0,
    },
  })
const from = clientOf((request) => embed.fetch(request))
const to = clientOf((request) => server.fetch(request))

const { thread_id } = await from.threads.create({ metadata: { graph_id: 'agent', team: 'red' } })
const input = { messages: [{ role: 'user', content: 'Hello' }] }
for await (const _ of from.runs.stream(thread_id, 'agent', { input })) {
  // Until it has ended.
}
await moveThread(from, to, thread_id)

const moved = await to.threads.get(thread_id)
const state = await to.threads.getState<{ messages: unknown[] }>(thread_id)
assert.equal(moved.metadata?.team, 'red')
assert.deepEqual(state.next, [])
assert.equal(state.values.messages.length, 2)
const values = (await to.runs.wait(thread_id, 'agent', { input })) as { messages: unknown[] }
assert.equal(values.messages.length, 4)
await server.close()
