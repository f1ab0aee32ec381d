import { setTimeout as sleep } from 'node:timers/promises'
import { type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import {
  approval,
  calculator,
  chat,
  inOrder,
  researchers,
  ScriptedChatModel,
  threeSteps,
  toolAgent,
} from '../../fixtures/graphs.ts'

/** Answers for two seconds. */
const slow = () => {
  const model = new ScriptedChatModel(inOrder({ text: 'At last.' }))
  const answer = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
    await sleep(2_000, undefined, { signal: config.signal })
    return { messages: [await model.invoke(messages, config)] }
  }
  return new StateGraph(MessagesAnnotation).addNode('model', answer).addEdge(START, 'model').compile()
}

const progress = { toolCalls: [{ id: 'call_report', name: 'report', args: {} }] }

/** Graphs that do what the audits of a server ask for. */
export const graphs = () => ({
  echo: chat(),
  interrupt: approval(),
  slow: slow(),
  failing: threeSteps((name) => {
    if (name === 'two') throw new Error('This graph always fails.')
  }),
  custom: toolAgent(inOrder(progress, { text: 'Reported.' })),
  tools: calculator(),
  nested: researchers(),
})
