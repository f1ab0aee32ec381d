import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'
import { ask, lastText } from '../kit/ask.ts'
import { fakeOpenAI, says } from '../kit/providers.ts'

fakeOpenAI([says('Four.')])

// #region agent
import { defineAgent } from 'agentwire'
import { openai } from 'agentwire/models'
import { memorySink, startLlmRun } from 'agentwire/tracing'
import OpenAI from 'openai'

const client = new OpenAI()
export const sink = memorySink()

export const agent = defineAgent({
  async run({ messages, model }) {
    const request = { model: 'gpt-5', stream: true, ...openai.writeRequest(messages) } as const
    const run = startLlmRun({ name: 'answer', request, sinks: [sink] })
    await model(() => client.chat.completions.create(request), openai, { run })
  },
})
// #endregion

const engine = createAgentEngine({ agents: { agent } })
await ask(engine, 'thread', 'What is 2 + 2?')
assert.match(await lastText(engine, 'thread'), /Four\./)
assert.equal(sink.runs.length, 1)
await engine.close()
