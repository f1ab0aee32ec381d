/** A server with a custom protocol in addition to the built-in ones. */
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { serve } from 'agentwire/node'
import { lines } from './face.ts'

const { PORT = '3000' } = process.env

const echo = defineAgent({
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})

await serve(createAgentServer({ agents: { echo }, faces: [lines] }), { port: Number(PORT) })
