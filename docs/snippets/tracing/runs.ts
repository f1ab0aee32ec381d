import assert from 'node:assert/strict'
import { fakeOpenAI } from '../kit/providers.ts'
import { intercept } from '../kit/intercept.ts'

fakeOpenAI([])
intercept('api.openai.com', () =>
  Response.json({
    choices: [{ index: 0, message: { role: 'assistant', content: 'Four.' }, finish_reason: 'stop' }],
  }),
)

// #region runs
import { memorySink, startLlmRun } from 'agentwire/tracing'
import OpenAI from 'openai'

const openai = new OpenAI()
const sinks = [memorySink()]
const question = 'What is 2 + 2?'
const request = { model: 'gpt-5', messages: [{ role: 'user' as const, content: question }] }

const trace = startLlmRun({
  name: 'turn',
  type: 'chain',
  inputs: { question },
  sinks,
  metadata: { thread_id: 't' },
})
const run = trace.child({ name: 'plan', request })
const response = await openai.chat.completions.create(request)
run.end(response) // or run.fail(error)
trace.end({ answer: response.choices[0]?.message.content })
await trace.delivered() // before a serverless function returns
// #endregion

assert.equal(sinks[0]?.runs.length, 2)
