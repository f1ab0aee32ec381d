import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'
import { ask, lastText } from '../kit/ask.ts'
import { closeServers } from '../kit/served.ts'

// #region subagent
import { defineAgent } from 'agentwire'
import { weather } from './weather.ts'

export const planner = defineAgent({
  async run({ subagent, message }) {
    const report = await subagent('weather', 'How is the weather in Oslo?', weather.run)
    await message(`The weather: ${report}`)
  },
})
// #endregion

const engine = createAgentEngine({ agents: { planner } })
await ask(engine, 'thread', 'Plan my day.')
assert.equal(await lastText(engine, 'thread'), 'The weather: Sunny.')
await engine.close()
closeServers()
