import assert from 'node:assert/strict'
import { simulateReadableStream } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { ask, lastText } from './kit/ask.ts'
import { recordedAnthropic, recordedOpenAI, says } from './kit/providers.ts'

const { openai, asked } = recordedOpenAI([says('Hello from OpenAI.')])
const { openai: client } = recordedOpenAI([says('Hello again.')])
const request = { model: 'gpt-5', messages: [{ role: 'user' as const, content: 'Hi' }] }
const { anthropic, asked: askedOfAnthropic } = recordedAnthropic('Hello from Anthropic.')
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const model = new MockLanguageModelV3({
  doStream: async () => ({
    stream: simulateReadableStream({
      chunks: [
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'Hello from the AI SDK.' },
        { type: 'text-end', id: '0' },
        { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
      ],
    }),
  }),
})

// #region openai
import { defineAgent } from 'agentwire'
import { completionsTarget, openaiChat } from 'agentwire/formats'
import type { ChatCompletionMessageParam } from 'openai/resources'

const overOpenAI = defineAgent({
  async run({ messages, model }) {
    const written = completionsTarget.writeRequest(messages).messages as ChatCompletionMessageParam[]
    await model(
      () => openai.chat.completions.create({ model: 'gpt-5', messages: written, stream: true }),
      openaiChat,
    )
  },
})
// #endregion

// #region anthropic
import type { MessageParam } from '@anthropic-ai/sdk/resources'
import { anthropicMessages, anthropicTarget } from 'agentwire/formats'

const overAnthropic = defineAgent({
  async run({ messages, model }) {
    const written = anthropicTarget.writeRequest(messages).messages as MessageParam[]
    const request = { model: 'claude-sonnet-5-5', max_tokens: 1024, messages: written, stream: true } as const
    await model(() => anthropic.messages.create(request), anthropicMessages)
  },
})
// #endregion

// #region ai-sdk
import { vercel, vercelTarget } from 'agentwire/formats'
import { type ModelMessage, streamText } from 'ai'

const overAiSdk = defineAgent({
  async run({ messages, model: stream, signal }) {
    const written = vercelTarget.writeRequest(messages).messages as ModelMessage[]
    await stream(() => streamText({ model, messages: written, abortSignal: signal }).fullStream, vercel)
  },
})
// #endregion

import { createAgentServer } from 'agentwire'

for (const [agent, text] of [
  [overOpenAI, 'Hello from OpenAI.'],
  [overAnthropic, 'Hello from Anthropic.'],
  [overAiSdk, 'Hello from the AI SDK.'],
] as const) {
  const server = createAgentServer({ agents: { agent } })
  const { status, error } = await ask(server.engine, 'thread', 'Hi')
  assert.deepEqual([status, error], ['success', null])
  assert.match(await lastText(server.engine, 'thread'), new RegExp(text))
  await server.close()
}
assert.deepEqual(asked[0]?.messages, [{ role: 'user', content: 'Hi' }])
assert.deepEqual(askedOfAnthropic[0]?.messages, [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])

// #region read
import { createAccumulator } from 'agentwire/messages'

const reader = openaiChat.readStream() // one for each stream
const accumulator = createAccumulator()
for await (const chunk of await client.chat.completions.create({ ...request, stream: true }))
  for (const event of reader.push(chunk)) accumulator.push(event)
for (const event of reader.end()) accumulator.push(event)
const message = accumulator.message() // what readResponse(response).messages has for the whole response
// #endregion

assert.deepEqual(message.content, [{ type: 'text', text: 'Hello again.' }])
