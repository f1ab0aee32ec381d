import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'
import { ask, lastText } from '../kit/ask.ts'

// #region answers
import { defineAgent } from 'agentwire'

export const brief = defineAgent({
  answersWith: ({ input }) => (JSON.stringify(input).includes('Hello') ? 'message' : 'task'),
  async run({ message }) {
    await message('Hello, how can I help?')
  },
})
// #endregion

const engine = createAgentEngine({ agents: { brief } })
await ask(engine, 'thread', 'Hello')
assert.equal(await lastText(engine, 'thread'), 'Hello, how can I help?')
await engine.close()
