import assert from 'node:assert/strict'
import { fakeOpenAI, says } from '../kit/providers.ts'
import { closeServers } from '../kit/served.ts'

const asked = fakeOpenAI([says('Hello from OpenAI.')])

// #region openai
import { createAgentServer, defineAgent } from 'agentwire'
import { openai } from 'agentwire/models'
import { serve } from 'agentwire/node'
import OpenAI from 'openai'

const client = new OpenAI() // reads OPENAI_API_KEY
const agent = defineAgent({ model: openai('gpt-5', client, { reasoning_effort: 'low' }) })

const server = createAgentServer({ agents: { agent } })
await serve(server, { port: 3000 })
// #endregion

const { text } = await server.engine.run({ input: 'Hi' })
assert.equal(text, 'Hello from OpenAI.')
assert.deepEqual(asked[0]?.messages, [{ role: 'user', content: 'Hi' }])
assert.equal(asked[0]?.reasoning_effort, 'low')
closeServers()
await server.close()
