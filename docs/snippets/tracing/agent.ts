import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'
import { ask, lastText } from '../kit/ask.ts'
import { fakeOpenAI, says } from '../kit/providers.ts'

fakeOpenAI([says('Four.')])

// #region agent
import { defineAgent } from 'agentwire'
import { completionsTarget, openaiChat } from 'agentwire/formats'
import { memorySink, startLlmRun } from 'agentwire/tracing'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources'

const openai = new OpenAI()
export const sink = memorySink()

export const agent = defineAgent({
  async run({ messages, model }) {
    const written = completionsTarget.writeRequest(messages).messages as ChatCompletionMessageParam[]
    const request = { model: 'gpt-5', messages: written, stream: true } as const
    const run = startLlmRun({ name: 'answer', request, sinks: [sink] })
    await model(() => openai.chat.completions.create(request), openaiChat, { run })
  },
})
// #endregion

const engine = createAgentEngine({ agents: { agent } })
await ask(engine, 'thread', 'What is 2 + 2?')
assert.match(await lastText(engine, 'thread'), /Four\./)
assert.equal(sink.runs.length, 1)
await engine.close()
