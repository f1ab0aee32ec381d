import assert from 'node:assert/strict'
import { ask, lastText } from '../kit/ask.ts'
import { fakeOpenAI, says } from '../kit/providers.ts'
import { closeServers } from '../kit/served.ts'

const asked = fakeOpenAI([says('Hello from the AI SDK.')])

// #region ai-sdk
import { openai } from '@ai-sdk/openai'
import { createAgentServer, defineAgent } from 'agentwire'
import { aiSdk } from 'agentwire/models'
import { serve } from 'agentwire/node'
import { streamText } from 'ai'

const agent = defineAgent({
  async run({ messages, model, signal }) {
    const written = aiSdk.writeRequest(messages)
    const request = { model: openai.chat('gpt-5'), abortSignal: signal, ...written }
    await model(() => streamText(request).fullStream, aiSdk)
  },
})

const server = createAgentServer({ agents: { agent } })
await serve(server, { port: 3000 })
// #endregion

await ask(server.engine, 'thread', 'Hi')
assert.match(await lastText(server.engine, 'thread'), /Hello from the AI SDK\./)
assert.deepEqual(asked[0]?.messages, [{ role: 'user', content: 'Hi' }])
closeServers()
await server.close()
