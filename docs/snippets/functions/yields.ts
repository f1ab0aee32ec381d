import assert from 'node:assert/strict'

// #region yields
import { defineAgent, textOf } from 'agentwire'

export const echo = defineAgent({
  async *run({ messages, message }) {
    yield message('Let me see.') // a whole message
    yield 'You '
    yield `said: ${textOf(messages.at(-1)!)}` // pieces of one message
  },
})
// #endregion

import { createAgentEngine } from 'agentwire'

const engine = createAgentEngine({ agents: { echo } })
const { messages } = await engine.run({ input: 'Hi' })
assert.deepEqual(messages.map(textOf), ['Hi', 'Let me see.', 'You said: Hi'])
await engine.close()
