import { MemorySaver } from '@langchain/langgraph'
import { createEmbedServer, type ThreadSaver } from '@langchain/langgraph-api/experimental/embed'
import { expect, onTestFinished, test } from 'vitest'
import { clientOf, graph, moveThread, server } from '../../docs/snippets/migrate.ts'

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

test("a thread moves from LangChain's server with its metadata and state, and goes on", async () => {
  onTestFinished(() => server.close())
  const embed = createEmbedServer({ graph: { agent: graph }, threads, checkpointer: new MemorySaver() })
  const from = clientOf((request) => embed.fetch(request))
  const to = clientOf((request) => server.fetch(request))

  const { thread_id } = await from.threads.create({ metadata: { graph_id: 'agent', team: 'red' } })
  const input = { messages: [{ role: 'user', content: 'Hello' }] }
  for await (const _ of from.runs.stream(thread_id, 'agent', { input })) {
    // Until it has ended.
  }
  await moveThread(from, to, thread_id)

  expect((await to.threads.get(thread_id)).metadata?.team).toBe('red')
  const state = await to.threads.getState<{ messages: unknown[] }>(thread_id)
  expect(state.next).toEqual([])
  expect(state.values.messages).toHaveLength(2)
  const values = (await to.runs.wait(thread_id, 'agent', { input })) as { messages: unknown[] }
  expect(values.messages).toHaveLength(4)
})
