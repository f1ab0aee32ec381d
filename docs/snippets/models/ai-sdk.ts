import assert from 'node:assert/strict'
import { fakeOpenAI, says } from '../kit/providers.ts'
import { closeServers } from '../kit/served.ts'

const asked = fakeOpenAI([says('Hello from the AI SDK.')])

// #region ai-sdk
import { openai } from '@ai-sdk/openai'
import { createAgentServer, defineAgent } from 'agentwire'
import { aiSdk } from 'agentwire/models'
import { serve } from 'agentwire/node'

const agent = defineAgent({ model: aiSdk(openai.chat('gpt-5')) })

const server = createAgentServer({ agents: { agent } })
await serve(server, { port: 3000 })
// #endregion

const { text } = await server.engine.run({ input: 'Hi' })
assert.equal(text, 'Hello from the AI SDK.')
assert.deepEqual(asked[0]?.messages, [{ role: 'user', content: 'Hi' }])
closeServers()
await server.close()
