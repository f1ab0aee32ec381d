import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'

/** An agent to deploy: it repeats its input, with a greeting that is a secret of its deployment. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', ({ messages }) => {
    const said = messages.at(-1)?.text ?? ''
    return {
      messages: [{ role: 'assistant', content: `${process.env.GREETING ?? 'Hello'}! You said: ${said}` }],
    }
  })
  .addEdge('__start__', 'answer')
  .compile()
