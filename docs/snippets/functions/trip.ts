import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'

// #region state
import { defineAgent } from 'agentwire'
import { z } from 'zod'

export const trip = defineAgent({
  input: z.object({ city: z.string() }),
  async run({ input, state, setState, step, message }) {
    const cities = [...((state.cities ?? []) as string[]), input.city]
    const bookedAt = await step(() => new Date().toISOString()) // stored, so it is the same in a replay
    await setState({ cities, bookedAt })
    await message(`Your trip has ${cities.length} stops.`)
  },
})
// #endregion

const engine = createAgentEngine({ agents: { trip } })
const threadId = 'trip'
for (const city of ['Oslo', 'Rome']) {
  const { runId } = await engine.start({ threadId, input: { city } })
  assert.equal((await engine.wait({ threadId, runId })).status, 'success')
}
await assert.rejects(engine.start({ threadId, input: { city: 5 } }), /input\.city/)
const thread = await engine.findThread({ threadId })
assert.deepEqual((await engine.readState(thread!))?.values.cities, ['Oslo', 'Rome'])
await engine.close()
