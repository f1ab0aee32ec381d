import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type Agent, defineAgent } from '../../src/index.ts'
import { calculator, researchers, supervised } from '../fixtures/graphs.ts'

const says = defineAgent({
  async run({ input, message }) {
    const { messages } = input as { readonly messages: readonly { readonly content: string }[] }
    await message(`You said: ${messages.at(-1)!.content}`)
  },
})

const fails = new StateGraph(MessagesAnnotation)
  .addNode('model', () => {
    throw new Error('the model is gone')
  })
  .addEdge(START, 'model')
  .compile()

/** The same agents behind every door. */
export const agents: Readonly<Record<string, Agent>> = {
  tools: langgraph(calculator()),
  asks: langgraph(supervised()),
  subagents: langgraph(researchers()),
  says,
  fails: langgraph(fails),
}
