import assert from 'node:assert/strict'
import { serve } from 'agentwire/node'

// #region in
import { createAgentServer, defineAgent } from 'agentwire'

const forecast = defineAgent({
  name: 'Weather',
  description: 'Knows the weather.',
  run: async ({ message }) => void (await message('Sunny.')),
})
const remote = createAgentServer({
  agents: { weather: forecast }, // POST /a2a/weather
  a2a: { card: { provider: { organization: 'Example', url: 'https://example.com' } } },
})
// #endregion

const served = await serve(remote, { port: 0, silent: true })
const url = `${served.origin}/a2a/weather`
const freshToken = async () => 'token'

// #region out
import { a2aAgent } from 'agentwire/a2a'

const weather = a2aAgent({
  url, // such as https://weather.example.com/a2a/weather/
  headers: async () => ({ authorization: `Bearer ${await freshToken()}` }),
  description: 'Knows the weather.',
})
const server = createAgentServer({ agents: { weather } })
// #endregion

// #region subagent
const planner = defineAgent({
  async run({ subagent, message }) {
    const report = await subagent('weather', 'How is the weather in Oslo?', weather.run)
    await message(`The weather: ${report}`)
  },
})
// #endregion

const planning = createAgentServer({ agents: { planner } })

import { ask, lastText } from './kit/ask.ts'

await ask(server.engine, 'thread', 'How is the weather in Oslo?')
assert.equal(await lastText(server.engine, 'thread'), 'Sunny.')
await ask(planning.engine, 'thread', 'Plan my day.')
assert.equal(await lastText(planning.engine, 'thread'), 'The weather: Sunny.')
await planning.close()
await server.close()
await served.close()
