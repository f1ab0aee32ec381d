import assert from 'node:assert/strict'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'

// #region context
import { type CompiledGraphLike, langgraph } from 'agentwire/langgraph'

export const agentOf = (graph: CompiledGraphLike) =>
  langgraph(graph, {
    context: ({ principal, request }) => ({
      userId: principal?.id,
      locale: request?.headers.get('accept-language'),
    }),
  })
// #endregion

const graph = new StateGraph(MessagesAnnotation)
  .addNode('one', () => ({}))
  .addEdge('__start__', 'one')
  .compile()
assert.equal(typeof agentOf(graph).stream, 'function')
