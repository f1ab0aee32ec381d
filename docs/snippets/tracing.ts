import assert from 'node:assert/strict'
import type { ChatCompletionChunk } from 'openai/resources'
import { recordedOpenAI, says } from './kit/providers.ts'

const { openai } = recordedOpenAI([says('Four.')])
let shown = ''
const show = ({ choices }: ChatCompletionChunk) => {
  shown += choices[0]?.delta.content ?? ''
}

// #region stream
import { memorySink, observeModelStream, startLlmRun } from 'agentwire/tracing'

const sink = memorySink() // or langsmithSink() of agentwire/tracing/langsmith, which reads LANGSMITH_API_KEY and LANGSMITH_PROJECT
const messages = [{ role: 'user' as const, content: 'What is 2 + 2?' }]
const request = { model: 'gpt-5', messages, stream: true, stream_options: { include_usage: true } } as const
const run = startLlmRun({ name: 'answer', request, sinks: [sink] })
const stream = await openai.chat.completions.create(request)
for await (const chunk of observeModelStream(stream, { run })) show(chunk) // as before
// #endregion

assert.equal(shown, 'Four.')
assert.equal(sink.runs.length, 1)

// #region convert
import { convertModelCall } from 'agentwire/tracing'

const { outputs, metadata } = convertModelCall({
  request: { model: 'gpt-5', messages },
  response: {
    choices: [{ message: { role: 'assistant', content: 'Four.' } }],
    usage: { prompt_tokens: 9, completion_tokens: 2 },
  },
})
// #endregion

assert.equal(metadata.ls_model_name, 'gpt-5')
assert.match(JSON.stringify(outputs), /Four\./)
