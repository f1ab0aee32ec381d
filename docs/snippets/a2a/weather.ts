import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'
import { ask, lastText } from '../kit/ask.ts'
import { origin } from '../kit/served.ts'

await import('./server.ts')
process.env.WEATHER_URL = `${await origin()}/a2a/weather`

// #region out
import { a2aAgent } from 'agentwire/a2a'

export const weather = a2aAgent({
  url: process.env.WEATHER_URL ?? 'http://127.0.0.1:3000/a2a/weather',
  headers: async () => ({ authorization: `Bearer ${await freshToken()}` }),
  description: 'Knows the weather.',
})

async function freshToken(): Promise<string> {
  return 'token' // from your identity provider
}
// #endregion

const engine = createAgentEngine({ agents: { weather } })
await ask(engine, 'thread', 'How is the weather in Oslo?')
assert.equal(await lastText(engine, 'thread'), 'Sunny.')
await engine.close()
