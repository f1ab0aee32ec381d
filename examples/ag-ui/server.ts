/** An agent for AG-UI clients. It asks before it paints the page, with a tool that the page itself runs. */
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { agUi } from 'agentwire/ag-ui'
import { serve } from 'agentwire/node'

const { PORT = '3000' } = process.env

const agent = defineAgent({
  async run({ messages, message, interrupt }) {
    const last = messages.at(-1)!
    if (last.role === 'tool') return message(`Done: ${textOf(last)}.`)
    const { approved } = await interrupt<{ approved: boolean }>('May I paint the page red?')
    if (!approved) return message('As you like.')
    const answer = message()
    await answer.text('Here it comes.')
    // No server-side code runs this tool: the run ends with the call, and the client continues with its
    // result.
    await answer.toolCall({ name: 'paint', args: { color: 'red' } })
    await answer.end()
  },
})

await serve(createAgentServer({ agents: { agent }, faces: [agUi()] }), { port: Number(PORT) })
