import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'
import { ask, lastText } from '../kit/ask.ts'

// #region subagent
import { defineAgent, type Writer } from 'agentwire'

async function research({ message }: Writer) {
  await message('Water boils at 100 °C.')
}

export const editor = defineAgent({
  async run({ subagent, message }) {
    const [facts, style] = await Promise.all([
      subagent('researcher', 'Find the facts.', research), // gives the text of its last message
      subagent('stylist', 'Choose a tone.', () => 'plain'), // gives what it returns
    ])
    await message(`${facts} (${style})`)
  },
})
// #endregion

const engine = createAgentEngine({ agents: { editor } })
await ask(engine, 'page', 'Write.')
assert.equal(await lastText(engine, 'page'), 'Water boils at 100 °C. (plain)')
await engine.close()
