import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'

// #region form
import { defineAgent } from 'agentwire'

export const booking = defineAgent({
  async run({ interrupt, message }) {
    const answer = await interrupt<{ action: 'accept' | 'decline'; content?: { at: string } }>({
      message: 'When?',
      requestedSchema: {
        type: 'object',
        properties: { at: { type: 'string', enum: ['18:00', '20:30'] } },
        required: ['at'],
      },
    })
    await message(answer.content ? `Booked for ${answer.content.at}.` : 'Not booked.')
  },
})
// #endregion

const engine = createAgentEngine({ agents: { booking } })
const answer = await engine.follow({ threadId: 'dinner', start: { input: {} } })
const end = await answer.ended()
assert.ok(end.status === 'asks' && end.questions.length === 1)
await engine.close()
