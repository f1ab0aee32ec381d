import assert from 'node:assert/strict'
import { ask, lastText } from './kit/ask.ts'
import { closeServers } from './kit/served.ts'

// #region serve
import { AIMessage } from '@langchain/core/messages'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { createAgentServer } from 'agentwire'
import { langgraph } from 'agentwire/langgraph'
import { serve } from 'agentwire/node'

const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', ({ messages }) => ({ messages: [new AIMessage(`You said: ${messages.at(-1)?.text}`)] }))
  .addEdge('__start__', 'answer')
  .compile()

const server = createAgentServer({
  agents: {
    agent: langgraph(graph), // the key is the assistant id
    described: langgraph(graph, { name: 'Echo', description: 'Repeats what you say.' }),
  },
  defaultAgent: 'agent',
})
await serve(server, { port: 3000 })
// #endregion

await ask(server.engine, 'thread', 'Hello')
assert.equal(await lastText(server.engine, 'thread'), 'You said: Hello')
closeServers()
await server.close()
