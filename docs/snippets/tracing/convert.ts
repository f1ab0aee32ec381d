import assert from 'node:assert/strict'

// #region convert
import { convertModelCall } from 'agentwire/tracing'

const { outputs, metadata } = convertModelCall({
  request: { model: 'gpt-5', messages: [{ role: 'user', content: 'What is 2 + 2?' }] },
  response: {
    choices: [{ message: { role: 'assistant', content: 'Four.' } }],
    usage: { prompt_tokens: 9, completion_tokens: 2 },
  },
})
console.log(outputs, metadata)
// #endregion

assert.equal(metadata.ls_model_name, 'gpt-5')
assert.match(JSON.stringify(outputs), /Four\./)
