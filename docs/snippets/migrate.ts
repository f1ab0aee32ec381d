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

const clientOf = (fetch: (request: Request) => Response | Promise<Response>) =>
  new Client({
    apiUrl: 'http://in.process',
    callerOptions: {
      fetch: async (url: string, init?: RequestInit) => fetch(new Request(url, init)),
      maxRetries: 0,
    },
  })

// test/vendors/migrate.test.ts moves a thread here from LangChain's own server.
export { clientOf, graph, moveThread, server }
