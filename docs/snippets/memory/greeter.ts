import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'
import { ask, lastText } from '../kit/ask.ts'

// #region function
import { defineAgent } from 'agentwire'

export const greeter = defineAgent({
  async run({ store, principal, message }) {
    const profile = await store.get(['profiles', principal?.id ?? 'anonymous'], 'name')
    await message(profile ? `Hello again, ${profile.value.name}.` : 'What is your name?')
  },
})
// #endregion

const engine = createAgentEngine({ agents: { greeter } })
await ask(engine, 'thread', 'Hi')
assert.equal(await lastText(engine, 'thread'), 'What is your name?')
await engine.graphStore().put(['profiles', 'anonymous'], 'name', { name: 'Ann' })
await ask(engine, 'thread', 'Hi')
assert.equal(await lastText(engine, 'thread'), 'Hello again, Ann.')
await engine.close()
