import assert from 'node:assert/strict'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { agents } from './kit/agents.ts'
import { ask, lastText } from './kit/ask.ts'

// #region instance
import { createAgentServer } from 'agentwire'
import { serve } from 'agentwire/node'
import { postgresStorage } from 'agentwire/postgres'

const storage = postgresStorage({ url: process.env.DATABASE_URL })
const server = createAgentServer({ agents, ...storage, drainMs: 20_000 })
const { close } = await serve(server, { port: 8000, hostname: '0.0.0.0', closeTimeout: 25_000 })

process.once('SIGTERM', async () => {
  await close()
  await storage.close()
})
// #endregion

const threadId = crypto.randomUUID()
await ask(server.engine, threadId, 'Hi')
assert.equal(await lastText(server.engine, threadId), 'Hello there')
process.removeAllListeners('SIGTERM')
await close()
await storage.close()

const url = process.env.DATABASE_URL

// #region retention
const bounded = postgresStorage({ url, maxAgeMs: 7 * 24 * 3_600_000, maxThreadBytes: 16 * 1024 * 1024 })
// #endregion

assert.equal(typeof bounded.store.sweep, 'function')
await bounded.close()

const builder = new StateGraph(MessagesAnnotation)
  .addNode('answer', () => ({ messages: [{ role: 'ai', content: 'Kept.' }] }))
  .addEdge('__start__', 'answer')

// #region saver
import { MemorySaver } from '@langchain/langgraph'

const { checkpointer, close: closeSaver } = postgresStorage({ url, serde: new MemorySaver().serde })
const graph = builder.compile({ checkpointer })
// #endregion

const configurable = { thread_id: threadId }
await graph.invoke({ messages: [] }, { configurable })
assert.equal((await graph.getState({ configurable })).values.messages.at(-1).content, 'Kept.')
await closeSaver()
