import assert from 'node:assert/strict'

// #region saver
import { MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { postgresStorage } from 'agentwire/postgres'

const { serde } = new MemorySaver()
const storage = postgresStorage({ url: process.env.DATABASE_URL, serde })

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', () => ({ messages: [{ role: 'ai', content: 'Kept.' }] }))
  .addEdge('__start__', 'answer')
  .compile({ checkpointer: storage.checkpointer })
// #endregion

const configurable = { thread_id: crypto.randomUUID() }
await graph.invoke({ messages: [] }, { configurable })
assert.equal((await graph.getState({ configurable })).values.messages.at(-1).content, 'Kept.')
await storage.close()
