import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type Agent, defineAgent } from '../../src/index.ts'
import { calculator, researchers, supervised } from '../fixtures/graphs.ts'
import { strict } from '../fixtures/strict.ts'

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

/** Throws between a model's call and its tool, but for the question `again`. The model refuses dead histories. */
const breaks = (() => {
  const model = strict((messages) =>
    messages.at(-1)!.text === 'again'
      ? { text: 'Alive.' }
      : { text: 'Let me add.', toolCalls: [{ id: 'call_add', name: 'add', args: { a: 2, b: 3 } }] },
  )
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('gate', ({ messages }) => {
      if (messages.at(-1)!.text !== 'Alive.') throw new Error('the gate is closed')
      return {}
    })
    .addEdge(START, 'model')
    .addEdge('model', 'gate')
    .compile()
})()

/** The same agents behind every door. */
export const agents: Readonly<Record<string, Agent>> = {
  tools: langgraph(calculator()),
  asks: langgraph(supervised()),
  subagents: langgraph(researchers()),
  says,
  fails: langgraph(fails),
  breaks: langgraph(breaks),
}
