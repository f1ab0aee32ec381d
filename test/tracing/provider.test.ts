import { expect, test } from 'vitest'
import { convertModelCall } from '../../src/models/tracing/index.ts'

test.each<[string, object]>([
  [
    'anthropic',
    { response: { type: 'ai', content: 'a', response_metadata: { model_provider: 'anthropic' } } },
  ],
  [
    'google_genai',
    { response: { type: 'ai', content: 'a', response_metadata: { model_provider: 'google-genai' } } },
  ],
  [
    'openai',
    {
      response: { content: [], finishReason: 'stop', usage: {} },
      request: { model: { modelId: 'gpt', provider: 'openai.responses' }, prompt: 'Hi' },
    },
  ],
  [
    'amazon_bedrock',
    {
      response: {
        steps: [{ content: [], finishReason: 'stop', model: { provider: 'amazon-bedrock', modelId: 'm' } }],
        finishReason: 'stop',
      },
    },
  ],
  ['azure', { response: { type: 'ai', content: 'a' }, provider: 'azure' }],
])('a format of many providers names the one that answered: %s', (expected, call) => {
  expect(convertModelCall(call).metadata.ls_provider).toBe(expected)
})

test('a call that names no provider has none', () => {
  expect(convertModelCall({ response: ['assistant', 'a'] }).metadata).not.toHaveProperty('ls_provider')
})
