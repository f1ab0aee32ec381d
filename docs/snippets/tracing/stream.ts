import assert from 'node:assert/strict'
import { fakeOpenAI, says } from '../kit/providers.ts'

fakeOpenAI([says('Four.')])

// #region stream
import { memorySink, observeModelStream, startLlmRun } from 'agentwire/tracing'
import OpenAI from 'openai'

const openai = new OpenAI()
const sink = memorySink() // or langsmithSink() of agentwire/tracing/langsmith, which reads LANGSMITH_API_KEY and LANGSMITH_PROJECT

const messages = [{ role: 'user' as const, content: 'What is 2 + 2?' }]
const request = { model: 'gpt-5', messages, stream: true, stream_options: { include_usage: true } } as const
const run = startLlmRun({ name: 'answer', request, sinks: [sink] })
const stream = await openai.chat.completions.create(request)
for await (const { choices } of observeModelStream(stream, { run })) console.log(choices[0]?.delta.content)
// #endregion

assert.equal(sink.runs.length, 1)
