// #region agents
import { createAgentServer, defineAgent, memoryStorage } from 'agentwire'
import { agUi } from 'agentwire/ag-ui'
import { aiSdk } from 'agentwire/ai-sdk'
import { cachedServer } from 'agentwire/next'
import { openAi } from 'agentwire/openai'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

export const server = cachedServer(
  () => memoryStorage(),
  (storage) => createAgentServer({ agents: { agent }, faces: [aiSdk(), agUi(), openAi()], ...storage }),
)
// #endregion

import assert from 'node:assert/strict'
import { EventSchemas } from 'ag-ui-core-0'
import { toNext } from 'agentwire/next'
import { DefaultChatTransport } from 'ai'
import OpenAI from 'openai'

const { POST } = toNext(server, { basePath: '/agents' })
const route: typeof fetch = (input, init) => POST(new Request(input, init))
const origin = 'http://127.0.0.1:3000'

const openai = new OpenAI({ apiKey: 'none', baseURL: `${origin}/agents/v1`, fetch: route })
const completion = await openai.chat.completions.create({
  model: 'agent',
  messages: [{ role: 'user', content: 'Hello' }],
})
assert.equal(completion.choices[0]!.message.content, 'Hello there')

const transport = new DefaultChatTransport({ api: `${origin}/agents/chat`, fetch: route })
const chunks = await transport.sendMessages({
  chatId: 'chat',
  trigger: 'submit-message',
  messageId: undefined,
  abortSignal: undefined,
  messages: [{ id: 'first', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
})
let text = ''
for await (const chunk of chunks) if (chunk.type === 'text-delta') text += chunk.delta
assert.equal(text, 'Hello there')

const run = await route(`${origin}/agents/ag-ui/agent`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    threadId: 'ag-ui',
    runId: 'run',
    state: {},
    messages: [{ id: 'first', role: 'user', content: 'Hello' }],
    tools: [],
    context: [],
    forwardedProps: {},
  }),
})
const events = [...(await run.text()).matchAll(/^data: (.+)$/gm)].map(([, data]) =>
  EventSchemas.parse(JSON.parse(data!)),
)
assert.equal(
  events.map((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? event.delta : '')).join(''),
  'Hello there',
)
await server.close()
