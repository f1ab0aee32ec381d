import {
  Annotation,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { ClientTool } from '../../src/agents/model-request.ts'
import { defineAgent } from '../../src/index.ts'
import { ScriptedChatModel, supervised } from '../fixtures/graphs.ts'
import { gate } from '../kit/wait.ts'

/** Writes half of its answer, and the rest once the gate is open. */
export function slow() {
  const { opened, open } = gate()
  const agent = defineAgent({
    async run({ message, signal }) {
      const answer = message()
      await answer.text('half ')
      await Promise.race([opened, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      signal.throwIfAborted()
      await answer.text('whole')
      await answer.end()
    },
  })
  return { agent, open }
}

/** Calls the tool `paint` of the page, if it has one, and says what the page has answered. */
export function painter(idOf = (count: number) => `call_${count}`, times = 1) {
  const model = new ScriptedChatModel((messages) => {
    const last = messages.at(-1)!
    const results = messages.filter((message) => message.getType() === 'tool')
    if (last.getType() === 'tool' && results.length >= times)
      return { text: `The page has ${String(last.content)}.` }
    return { toolCalls: [{ id: idOf(messages.length), name: 'paint', args: { color: 'red' } }] }
  })
  const node = async (state: typeof MessagesAnnotation.State, { configurable }: LangGraphRunnableConfig) => {
    const tools: readonly ClientTool[] = configurable?.client_tools ?? []
    if (!tools.some((tool) => tool.function.name === 'paint'))
      throw new Error('There is nothing to paint with.')
    return { messages: [await model.invoke(state.messages)] }
  }
  return langgraph(
    new StateGraph(MessagesAnnotation).addNode('model', node).addEdge(START, 'model').compile(),
  )
}

const Shared = Annotation.Root({
  ...MessagesAnnotation.spec,
  topic: Annotation<string>,
  seen: Annotation<string[]>,
})

/** Reads what the page has written into the state, and writes into it. */
export function sharing() {
  let about = ''
  const model = new ScriptedChatModel(() => ({ text: `About ${about}.` }))
  return langgraph(
    new StateGraph(Shared)
      .addNode('model', async ({ messages, topic = 'nothing', seen = [] }) => {
        about = topic
        return { messages: [await model.invoke(messages)], seen: [...seen, topic] }
      })
      .addEdge(START, 'model')
      .compile(),
  )
}

export const approved = () => langgraph(supervised())
