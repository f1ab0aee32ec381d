import assert from 'node:assert/strict'
import { ask, lastText } from './kit/ask.ts'

// #region graph
import { AIMessage } from '@langchain/core/messages'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'

const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', ({ messages }) => ({ messages: [new AIMessage(`You said: ${messages.at(-1)?.text}`)] }))
  .addEdge('__start__', 'answer')
  .compile()
// #endregion

// #region serve
import { createAgentServer } from 'agentwire'
import { langgraph } from 'agentwire/langgraph'

const server = createAgentServer({
  agents: {
    agent: langgraph(graph), // the key is the assistant id
    described: langgraph(graph, { name: 'Echo', description: 'Says what you said.' }),
  },
  defaultAgent: 'agent',
})
// #endregion

await ask(server.engine, 'thread', 'Hello')
assert.equal(await lastText(server.engine, 'thread'), 'You said: Hello')
await server.close()

// #region context
import { Annotation } from '@langchain/langgraph'

const ContextSchema = Annotation.Root({ userId: Annotation<string>, locale: Annotation<string> })
const personal = new StateGraph(MessagesAnnotation, ContextSchema)
  .addNode('answer', (_state, { context }) => ({
    messages: [new AIMessage(`${context?.userId} reads ${context?.locale}`)],
  }))
  .addEdge('__start__', 'answer')
  .compile()

const personalAgent = langgraph(personal, {
  context: ({ principal, request }) => ({
    userId: principal?.id,
    locale: request?.headers.get('accept-language') ?? 'en',
  }),
})
// #endregion

const withContext = createAgentServer({ agents: { personalAgent } })
await ask(withContext.engine, 'thread', 'Who am I?', { id: 'ada' })
assert.equal(await lastText(withContext.engine, 'thread', { id: 'ada' }), 'ada reads en')
await withContext.close()
