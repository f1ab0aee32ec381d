/** Two agents, each of which remembers its own side of a conversation. */
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { serve } from 'agentwire/node'

const { PORT = '3000' } = process.env

/** Answers each message, and counts its answers in this conversation. */
const speaker = (name: string, reply: string) =>
  defineAgent({
    name,
    description: `Says: ${reply}`,
    async run({ messages, message }) {
      const turn = messages.filter(({ role }) => role === 'user').length
      await message(`${turn}. ${reply} (to “${textOf(messages.at(-1)!)}”)`)
    },
  })

const server = createAgentServer({
  agents: {
    optimist: speaker('Optimist', 'It will be sunny.'),
    pessimist: speaker('Pessimist', 'It will rain.'),
  },
})
await serve(server, { port: Number(PORT) })
