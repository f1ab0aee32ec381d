import assert from 'node:assert/strict'
import { createAgentServer } from 'agentwire'
import { ask, lastText } from './kit/ask.ts'

// #region context
import { AIMessage } from '@langchain/core/messages'
import { Annotation, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { langgraph } from 'agentwire/langgraph'

const ContextSchema = Annotation.Root({ userId: Annotation<string>, locale: Annotation<string> })
const graph = new StateGraph(MessagesAnnotation, ContextSchema)
  .addNode('answer', (_state, { context }) => ({
    messages: [new AIMessage(`${context?.userId} reads ${context?.locale}`)],
  }))
  .addEdge('__start__', 'answer')
  .compile()

export const personal = langgraph(graph, {
  context: ({ principal, request }) => ({
    userId: principal?.id,
    locale: request?.headers.get('accept-language') ?? 'en',
  }),
})
// #endregion

const server = createAgentServer({ agents: { personal } })
await ask(server.engine, 'thread', 'Who am I?', { id: 'ada' })
assert.equal(await lastText(server.engine, 'thread', { id: 'ada' }), 'ada reads en')
await server.close()
