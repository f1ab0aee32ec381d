/** An agent that asks an agent of another server over A2A, and is itself called over A2A. */
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { a2aAgent } from 'agentwire/a2a'
import { serve } from 'agentwire/node'
import { startRemote } from './remote.ts'

const { WEATHER_URL = `${(await startRemote()).origin}/a2a/weather`, PORT = '3000' } = process.env

// It has a card at the address, which says how to call it.
const weather = a2aAgent({ url: WEATHER_URL, description: 'Knows the weather.' })

const assistant = defineAgent({
  name: 'assistant',
  description: 'Plans a day.',
  async run({ messages, subagent, message }) {
    const forecast = await subagent('weather', textOf(messages.at(-1)!), weather.run)
    await message(`The forecast says: ${forecast} ${forecast.startsWith('Sunny') ? 'Go out.' : 'Stay in.'}`)
  },
})

// The remote agent is also one of this server: pages chat with it as with any other.
const server = createAgentServer({ agents: { assistant, weather }, defaultAgent: 'assistant' })
await serve(server, { port: Number(PORT) })
