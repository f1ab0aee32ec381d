import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { MemorySaver } from '@langchain/langgraph'
import { createEmbedServer, type ThreadSaver } from '@langchain/langgraph-api/experimental/embed'
import { tokensGraph, writerGraph } from '../../bench/servers/agents.ts'
import { serveCalls } from '../../bench/servers/process.ts'

/** LangChain's own server for graphs within an application, as its documentation shows it. */

type Thread = Awaited<ReturnType<ThreadSaver['get']>>

const records = new Map<string, Thread>()

const threads: ThreadSaver = {
  async get(id) {
    const thread = records.get(id)
    if (!thread) throw new Error(`Thread ${id} not found.`)
    return thread
  },
  async set(id, { metadata }) {
    const thread = { thread_id: id, metadata: { ...records.get(id)?.metadata, ...metadata } } as Thread
    records.set(id, thread)
    return thread
  },
  async delete(id) {
    records.delete(id)
  },
}

const app = createEmbedServer({
  graph: { writer: writerGraph, tokens: tokensGraph },
  threads,
  checkpointer: new MemorySaver(),
})

await serveCalls(createAdaptorServer({ fetch: app.fetch }) as Server)
