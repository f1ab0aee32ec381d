import assert from 'node:assert/strict'
import { ask, lastText } from '../kit/ask.ts'
import { fakeOpenAI, says } from '../kit/providers.ts'
import { closeServers } from '../kit/served.ts'

const asked = fakeOpenAI([says('Hello from OpenAI.')])

// #region openai
import { createAgentServer, defineAgent } from 'agentwire'
import { openai } from 'agentwire/models'
import { serve } from 'agentwire/node'
import OpenAI from 'openai'

const client = new OpenAI() // reads OPENAI_API_KEY

const agent = defineAgent({
  async run({ messages, model }) {
    const request = { model: 'gpt-5', stream: true, ...openai.writeRequest(messages) } as const
    await model(() => client.chat.completions.create(request), openai)
  },
})

const server = createAgentServer({ agents: { agent } })
await serve(server, { port: 3000 })
// #endregion

await ask(server.engine, 'thread', 'Hi')
assert.match(await lastText(server.engine, 'thread'), /Hello from OpenAI\./)
assert.deepEqual(asked[0]?.messages, [{ role: 'user', content: 'Hi' }])
closeServers()
await server.close()
