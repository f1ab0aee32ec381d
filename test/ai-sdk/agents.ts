import { AIMessage } from '@langchain/core/messages'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { type Agent, defineAgent } from '../../src/index.ts'
import { gate } from '../kit/wait.ts'

/** Says something, waits, and says the rest. */
export function halting() {
  const halt = gate()
  const begun = gate()
  const agent = defineAgent({
    async run({ message }) {
      const writer = message()
      await writer.text('Half ')
      begun.open()
      await halt.opened
      await writer.text('whole.')
    },
  })
  return { agent, reached: begun.opened, goOn: halt.open }
}

/** Everything that a message may hold: thoughts, text with sources, files, tools of the provider, data of the agent's code. */
export const everything: Agent = defineAgent({
  async run({ message, tool, custom, subagent }) {
    const writer = message()
    await writer.reasoning('Let me think.')
    await writer.text('Look at ')
    await writer.text('this.')
    await writer.block({ type: 'image', base64: 'AAAA', mimeType: 'image/png' })
    await writer.block({ type: 'file', url: 'https://files.example/a.pdf', mimeType: 'application/pdf' })
    await writer.block({
      type: 'text',
      text: 'A cited text.',
      annotations: [
        { type: 'citation', url: 'https://a.example', title: 'A', startIndex: 0, endIndex: 1 },
        { type: 'citation', title: 'A book' },
      ],
    })
    await writer.end()
    await custom('progress', { id: 'p1', done: 1 })
    await custom('progress', { id: 'p1', done: 2 })
    await custom({ note: 'passing' })
    await tool('look_up', { key: 'x' }, () => ({ value: 5 }))
    await tool('fail', {}, () => {
      throw new Error('the tool is broken')
    }).catch(() => {})
    await subagent('researcher', 'Find x', async (own) => {
      await own.message('x is 5')
    })
    await message('Done.')
  },
})

/** A graph whose node gives a message that no model has streamed. */
export const unstreamed = () =>
  new StateGraph(MessagesAnnotation)
    .addNode('say', () => ({
      messages: [
        new AIMessage({
          id: 'said',
          content: [
            { type: 'reasoning', reasoning: 'Hm.' },
            { type: 'text', text: 'Said at once.' },
          ] as never,
        }),
      ],
    }))
    .addEdge(START, 'say')
    .compile()
