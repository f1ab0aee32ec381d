import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type Agent, defineAgent } from '../../src/index.ts'
import { chat, type Script, threeSteps } from '../fixtures/plain-graphs.ts'
import type { Json } from '../kit/events.ts'
import { aborted, type Gate } from '../kit/wait.ts'

const lastText = (messages: readonly Json[]): string => {
  const { content } = messages.at(-1) ?? {}
  return typeof content === 'string' ? content : content.map(({ text = '' }: Json) => text).join('')
}

const replies: Script = (messages) => ({ text: `You said: ${lastText(messages)}` })

/** A graph over messages that repeats the last one. */
export const graph = (): Agent => langgraph(chat(replies))

/** A function that repeats the last message. */
export const echo = (): Agent =>
  defineAgent({
    async run({ messages, message }) {
      await message(`You said: ${lastText(messages)}`)
    },
  })

/** A graph whose state has `notes` and no messages. */
export const notes = (): Agent => langgraph(threeSteps())

/** Asks for a colour, as a graph and as a function. */
export const asksAsGraph = (): Agent =>
  langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('ask', () => ({
        messages: [
          { role: 'ai', content: `It is ${JSON.stringify(interrupt({ question: 'Which colour?' }))}.` },
        ],
      }))
      .addEdge(START, 'ask')
      .compile(),
  )

export const asks = (): Agent =>
  defineAgent({
    async run({ interrupt, message }) {
      await message(`It is ${JSON.stringify(await interrupt({ question: 'Which colour?' }))}.`)
    },
  })

/** Asks two questions at once. */
export const asksTwice = (): Agent =>
  langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('left', () => ({ messages: [{ role: 'ai', content: `left ${interrupt('Left?')}` }] }))
      .addNode('right', () => ({ messages: [{ role: 'ai', content: `right ${interrupt('Right?')}` }] }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .compile(),
  )

/** Writes half of its answer, then waits for the gate or its cancel. */
export const held = ({ opened }: Gate): Agent =>
  defineAgent({
    async run({ message, messages, signal }) {
      const writer = message()
      await writer.text('half ')
      await Promise.race([opened, aborted(signal)])
      await writer.text(lastText(messages))
      await writer.end()
    },
  })
