import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import { createAgent, createMiddleware } from 'langchain'
import { add, inOrder, ScriptedChatModel } from '../fixtures/graphs.ts'

const State = Annotation.Root({
  path: Annotation<string>(),
  notes: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
})

/** An agent with a tool and two middlewares, of which one has all four nodes. */
export const guarded = () =>
  createAgent({
    model: new ScriptedChatModel(
      inOrder({ toolCalls: [{ id: 'c1', name: 'add', args: { a: 2, b: 3 } }] }, { text: 'It is 5.' }),
    ),
    tools: [add],
    middleware: [
      createMiddleware({
        name: 'Limits',
        beforeAgent: () => {},
        beforeModel: () => {},
        afterModel: () => {},
        afterAgent: () => {},
      }),
      createMiddleware({ name: 'Redact', beforeModel: () => {}, afterModel: () => {} }),
    ],
  })

/**
 * Takes the way that its input names: `research`, a subgraph of two steps, `ask`, which interrupts, `fail`, or
 * `wait`, which goes on when `opened` settles.
 */
export const branching = (opened: () => Promise<unknown> = async () => {}) => {
  const note = (text: string) => () => ({ notes: [text] })
  const research = new StateGraph(State)
    .addNode('search', note('searched'))
    .addNode('read', note('read'))
    .addEdge(START, 'search')
    .addEdge('search', 'read')
    .addEdge('read', END)
    .compile()
  return new StateGraph(State)
    .addNode('route', () => ({}))
    .addNode('research', research)
    .addNode('ask', () => ({ notes: [String(interrupt('Which one?'))] }))
    .addNode('fail', () => {
      throw new Error('The source is gone.')
    })
    .addNode('wait', async () => {
      await opened()
      return { notes: ['waited'] }
    })
    .addNode('write', note('written'))
    .addEdge(START, 'route')
    .addConditionalEdges('route', ({ path }) => path, {
      research: 'research',
      'needs a person': 'ask',
      broken: 'fail',
      slow: 'wait',
    })
    .addEdge('research', 'write')
    .addEdge('ask', 'write')
    .addEdge('fail', 'write')
    .addEdge('wait', 'write')
    .addEdge('write', END)
    .compile()
}
