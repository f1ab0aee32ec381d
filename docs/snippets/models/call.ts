import assert from 'node:assert/strict'
import { fakeOpenAI, says } from '../kit/providers.ts'

const asked = fakeOpenAI([says('Hello from OpenAI.')])

// #region call
import { defineAgent } from 'agentwire'
import { openai } from 'agentwire/models'
import OpenAI from 'openai'

const client = new OpenAI()

export const agent = defineAgent({
  async run({ messages, model }) {
    const request = { model: 'gpt-5', stream: true, ...openai.writeRequest(messages) } as const
    await model(() => client.chat.completions.create(request), openai)
  },
})
// #endregion

import { createAgentEngine } from 'agentwire'

const engine = createAgentEngine({ agents: { agent } })
const { text } = await engine.run({ input: 'Hi' })
assert.equal(text, 'Hello from OpenAI.')
assert.deepEqual(asked[0]?.messages, [{ role: 'user', content: 'Hi' }])
await engine.close()
