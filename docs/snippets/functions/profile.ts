import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'
import { ask, lastText } from '../kit/ask.ts'

// #region profile
import { defineAgent } from 'agentwire'

export const weather = defineAgent({
  name: 'weather',
  description: 'Knows the weather of the next ten days.',
  skills: [
    { id: 'forecast', name: 'Forecast', description: 'Tells the weather of a place.', tags: ['weather'] },
  ],
  inputModes: ['text/plain'],
  outputModes: ['text/plain', 'application/json'],
  async run({ message }) {
    await message('Sunny.')
  },
})
// #endregion

const engine = createAgentEngine({ agents: { weather } })
await ask(engine, 'thread', 'Oslo')
assert.equal(await lastText(engine, 'thread'), 'Sunny.')
await engine.close()
