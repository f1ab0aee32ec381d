import { interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { defineAgent } from 'agentwire'
import { langgraph } from 'agentwire/langgraph'

const approval = new StateGraph(MessagesAnnotation)
  .addNode('ask', () => ({ messages: [{ role: 'ai', content: `You said ${interrupt('Shall I?')}.` }] }))
  .addEdge('__start__', 'ask')
  .compile()

const counter = defineAgent({
  async run({ message, signal }) {
    const reply = message()
    for (let word = 1; word <= 20 && !signal.aborted; word++) {
      await reply.text(`${word} `)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await reply.end()
  },
})

/** A graph and a function. */
export const agents = { approval: langgraph(approval), counter }
