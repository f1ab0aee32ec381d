import { setTimeout as pause } from 'node:timers/promises'
import type { BaseMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { type Agent, defineAgent } from '../../../src/index.ts'
import { textOf } from '../../../src/messages/index.ts'

/** Milliseconds between two characters of an answer that is asked for slowly. */
const SLOW_MS = 40
const QUESTION = { question: 'What shall I say?' }

const answerTo = (heard: string, said: () => string): string =>
  heard === 'Ask me' ? `You said ${said()}.` : 'Hello to you.'

const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }: { messages: BaseMessage[] }, config) => {
    const heard = messages.findLast((message) => message.getType() === 'human')!.text
    const answer = answerTo(heard, () => interrupt<unknown, string>(QUESTION))
    const model = new FakeListChatModel({ responses: [answer], sleep: heard === 'Slowly' ? SLOW_MS : 0 })
    return { messages: [await model.invoke(messages, config)] }
  })
  .addEdge('__start__', 'answer')
  .compile()

const plain = defineAgent({
  description: 'Greets, asks, and takes its time.',
  async run({ messages, message, interrupt: ask, signal }) {
    const heard = textOf(messages.findLast(({ role }) => role === 'user')!)
    const said = heard === 'Ask me' ? await ask<string>(QUESTION) : ''
    const reply = message()
    for (const character of answerTo(heard, () => said)) {
      if (heard === 'Slowly') await pause(SLOW_MS, undefined, { signal })
      await reply.text(character)
    }
    await reply.end()
  },
})

/** A LangGraph agent and a function that do the same: greet, ask where they hear “Ask me”, and take their time for “Slowly”. */
export const agents: Readonly<Record<string, Agent>> = {
  graph: langgraph(graph, { description: 'Greets, asks, and takes its time.' }),
  plain,
}
