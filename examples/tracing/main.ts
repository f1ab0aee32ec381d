/**
 * Three models in one trace: OpenAI and Anthropic, streamed, and a custom one. Each call becomes a run of
 * type `llm`, logged to a sink in this process. To export the same runs, replace it with `langsmithSink()` or
 * `openTelemetrySink({ tracer })`.
 *
 *     npx tsx main.ts
 */
import assert from 'node:assert/strict'
import { checkLlmRun, memorySink, observeModelStream, type Prices, startLlmRun } from 'agentwire/tracing'
import { anthropicEvents, openaiChunks, ownAnswer, streamOf } from './recorded.ts'
import { tableOf } from './table.ts'

const question = 'Where is it warmer, in Paris or in Rome?'
const sink = memorySink()

/** Dollars per million tokens. */
const prices: Prices = (model, { inputTokens, outputTokens, inputDetails }) => {
  if (!model.startsWith('gpt-4o')) return undefined
  const cached = inputDetails?.cache_read ?? 0
  const inputCost = ((inputTokens - cached) * 2.5 + cached * 1.25) / 1e6
  const outputCost = (outputTokens * 10) / 1e6
  return { inputCost, outputCost, totalCost: inputCost + outputCost }
}

const trace = startLlmRun({
  name: 'which city',
  type: 'chain',
  inputs: { question },
  sinks: [sink],
  metadata: { thread_id: '0199d6a8-0000-7000-8000-000000000001' },
})

// OpenAI. With the SDK: observeModelStream(await openai.chat.completions.create(openaiRequest), { run })
const openaiRequest = {
  model: 'gpt-4o',
  temperature: 0,
  stream: true,
  stream_options: { include_usage: true },
  messages: [{ role: 'user', content: question }],
}
const openaiRun = trace.child({ name: 'plan', request: openaiRequest, prices })
for await (const { choices } of observeModelStream(streamOf(openaiChunks), { run: openaiRun }))
  write(choices[0]?.delta)
process.stdout.write('\n')

// Anthropic. With the SDK: observeModelStream(anthropic.messages.create(anthropicRequest), { run })
const anthropicRequest = {
  model: 'claude-sonnet-4-5',
  max_tokens: 1_024,
  system: 'Answer in one sentence.',
  stream: true,
  messages: [
    { role: 'user', content: question },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'call_rome', name: 'weather', input: { city: 'Rome' } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_rome', content: '27 degrees' }] },
  ],
}
const anthropicRun = trace.child({ name: 'answer', request: anthropicRequest })
for await (const event of observeModelStream(streamOf(anthropicEvents), { run: anthropicRun }))
  if ('delta' in event) write(event.delta)
process.stdout.write('\n\n')

// A custom model: any of the plain shapes works.
const ownRun = trace.child({
  name: 'advice',
  provider: 'own',
  model: 'packer-1',
  request: { messages: [{ role: 'user', content: 'What do I pack for 27 degrees?' }] },
})
ownRun.end(ownAnswer)

trace.end({ answer: 'Rome, at 27 degrees.' })
await Promise.all([trace, openaiRun, anthropicRun, ownRun].map((run) => run.delivered()))

console.log(tableOf(sink.runs))
const findings = sink.runs.filter((run) => run.run_type === 'llm').flatMap(checkLlmRun)
assert.deepEqual(findings, [], 'Every run must have all that a viewer of traces shows.')
assert.equal(sink.runs.length, 4)
console.log('\nAll runs are complete.')

function write(delta: object = {}): void {
  const { content, text } = delta as { readonly content?: string; readonly text?: string }
  process.stdout.write(content ?? text ?? '')
}
