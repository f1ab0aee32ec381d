// #region in
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const forecast = defineAgent({
  name: 'Weather',
  description: 'Knows the weather.',
  async run({ message }) {
    await message('Sunny.')
  },
})

const server = createAgentServer({
  agents: { weather: forecast }, // POST /a2a/weather
  a2a: { card: { provider: { organization: 'Example', url: 'https://example.com' } } },
})
await serve(server, { port: 3000 })
// #endregion
