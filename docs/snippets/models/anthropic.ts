import assert from 'node:assert/strict'
import { fakeAnthropic } from '../kit/providers.ts'
import { closeServers } from '../kit/served.ts'

const asked = fakeAnthropic('Hello from Anthropic.')

// #region anthropic
import Anthropic from '@anthropic-ai/sdk'
import { createAgentServer, defineAgent } from 'agentwire'
import { anthropic } from 'agentwire/models'
import { serve } from 'agentwire/node'

const client = new Anthropic() // reads ANTHROPIC_API_KEY
const agent = defineAgent({ model: anthropic('claude-sonnet-5-5', client, { max_tokens: 8192 }) })

const server = createAgentServer({ agents: { agent } })
await serve(server, { port: 3000 })
// #endregion

const { text } = await server.engine.run({ input: 'Hi' })
assert.equal(text, 'Hello from Anthropic.')
assert.deepEqual(asked[0]?.messages, [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
closeServers()
await server.close()
