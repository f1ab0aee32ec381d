/** An assistant that OpenAI's clients, Open WebUI and LibreChat call: `npx tsx server.ts` */
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { serve } from 'agentwire/node'
import { openAi } from 'agentwire/openai'

const { PORT = '3000' } = process.env

/** Stands for your agent: it looks something up, and asks before it books. */
const travel = defineAgent({
  name: 'Travel',
  description: 'Finds trains, and books them.',
  async run({ messages, message, tool, interrupt }) {
    const wish = textOf(messages.at(-1)!)
    const time = await tool('timetable', { wish }, () => '9:30')
    if (!/book/i.test(wish)) return message(`There is a train at ${time}.`)
    const answer = await interrupt<string>({ question: `May I book the train at ${time}?` })
    await message(answer === 'yes' ? 'It is booked.' : 'Nothing is booked.')
  },
})

const server = createAgentServer({ agents: { travel }, faces: [openAi()] })

await serve(server, { port: Number(PORT) })
