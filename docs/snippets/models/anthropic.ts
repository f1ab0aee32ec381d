import assert from 'node:assert/strict'
import { ask, lastText } from '../kit/ask.ts'
import { fakeAnthropic } from '../kit/providers.ts'
import { closeServers } from '../kit/served.ts'

const asked = fakeAnthropic('Hello from Anthropic.')

// #region anthropic
import Anthropic from '@anthropic-ai/sdk'
import { createAgentServer, defineAgent } from 'agentwire'
import { anthropic } from 'agentwire/models'
import { serve } from 'agentwire/node'

const client = new Anthropic() // reads ANTHROPIC_API_KEY

const agent = defineAgent({
  async run({ messages, model }) {
    const written = anthropic.writeRequest(messages)
    const request = { model: 'claude-sonnet-5-5', max_tokens: 1024, stream: true, ...written } as const
    await model(() => client.messages.create(request), anthropic)
  },
})

const server = createAgentServer({ agents: { agent } })
await serve(server, { port: 3000 })
// #endregion

await ask(server.engine, 'thread', 'Hi')
assert.match(await lastText(server.engine, 'thread'), /Hello from Anthropic\./)
assert.deepEqual(asked[0]?.messages, [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
closeServers()
await server.close()
