/** An agent that calls another server's agent over A2A, and can itself be called over A2A. */
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { a2aAgent } from 'agentwire/a2a'
import { serve } from 'agentwire/node'
import { startRemote } from './remote.ts'

const { WEATHER_URL = `${(await startRemote()).origin}/a2a/weather`, PORT = '3000' } = process.env

// Its agent card at this address says how to call it.
const weather = a2aAgent({ url: WEATHER_URL, description: 'Knows the weather.' })

const assistant = defineAgent({
  name: 'assistant',
  description: 'Plans a day.',
  async run({ messages, subagent, message }) {
    const forecast = await subagent('weather', textOf(messages.at(-1)!), weather.run)
    await message(`The forecast says: ${forecast} ${forecast.startsWith('Sunny') ? 'Go out.' : 'Stay in.'}`)
  },
})

// The remote agent is also an agent of this server: pages chat with it like with any other.
const server = createAgentServer({ agents: { assistant, weather }, defaultAgent: 'assistant' })
await serve(server, { port: Number(PORT) })
