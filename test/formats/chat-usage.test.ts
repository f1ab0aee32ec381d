import { expect, test } from 'vitest'
import { openaiChat } from '../../src/models/formats/index.ts'

const usageOf = (usage: unknown, others: object = {}) =>
  openaiChat.readResponse({ choices: [{ index: 0, message: { content: '' } }], usage, ...others })
    .messages[0]!.usage

const totals = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
})

test.each<[string, object, object]>([
  [
    'OpenAI, with cache writes',
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 30, audio_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 3, rejected_prediction_tokens: 4 },
    },
    {
      ...totals(100, 20),
      inputDetails: { cache_read: 40, cache_creation: 30, audio: 10 },
      outputDetails: { reasoning: 5, audio: 3 },
    },
  ],
  [
    'DeepSeek',
    {
      prompt_tokens: 10,
      completion_tokens: 2,
      total_tokens: 12,
      prompt_cache_hit_tokens: 6,
      prompt_cache_miss_tokens: 4,
    },
    { ...totals(10, 2), inputDetails: { cache_read: 6 } },
  ],
  [
    'xAI, which counts reasoning outside the completion',
    {
      prompt_tokens: 10,
      completion_tokens: 2,
      total_tokens: 42,
      prompt_tokens_details: { cached_tokens: 4, text_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    { ...totals(10, 32), inputDetails: { cache_read: 4 }, outputDetails: { reasoning: 30 } },
  ],
  [
    'xAI, which counts cached tokens outside the prompt',
    { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 90 } },
    { ...totals(100, 2), inputDetails: { cache_read: 90 } },
  ],
  [
    "Gemini's compatible endpoint, which counts thoughts only in the total",
    { prompt_tokens: 10, completion_tokens: 2, total_tokens: 20 },
    { ...totals(10, 10), outputDetails: { reasoning: 8 } },
  ],
  [
    'OpenRouter, with a cost and more reasoning than output',
    {
      prompt_tokens: 10,
      completion_tokens: 10,
      total_tokens: 20,
      completion_tokens_details: { reasoning_tokens: 11 },
      cost: 0.5,
    },
    { ...totals(10, 10), outputDetails: { reasoning: 10 }, totalCost: 0.5 },
  ],
  [
    'Perplexity',
    {
      prompt_tokens: 5,
      completion_tokens: 9,
      total_tokens: 14,
      reasoning_tokens: 4,
      cost: { total_cost: 0.25, request_cost: 0.2 },
    },
    { ...totals(5, 9), outputDetails: { reasoning: 4 }, totalCost: 0.25 },
  ],
  [
    'Moonshot',
    { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14, cached_tokens: 3 },
    { ...totals(5, 9), inputDetails: { cache_read: 3 } },
  ],
  [
    'Mistral',
    { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14, num_cached_tokens: 3 },
    { ...totals(5, 9), inputDetails: { cache_read: 3 } },
  ],
  [
    'LiteLLM, which sends the same count under three names',
    {
      prompt_tokens: 50,
      completion_tokens: 9,
      total_tokens: 59,
      prompt_tokens_details: { cached_tokens: 10, cache_creation_tokens: 20, cache_write_tokens: 20 },
      cache_creation_input_tokens: 20,
    },
    { ...totals(50, 9), inputDetails: { cache_read: 10, cache_creation: 20 } },
  ],
  [
    'LiteLLM, with cache writes by time to live',
    {
      prompt_tokens: 50,
      completion_tokens: 9,
      prompt_tokens_details: {
        cached_tokens: 0,
        cache_creation_tokens: 20,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
      },
      cache_read_input_tokens: 10,
    },
    {
      ...totals(50, 9),
      inputDetails: { cache_read: 10, ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
    },
  ],
  [
    'Alibaba, with cache writes',
    {
      prompt_tokens: 50,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 20, cache_type: 'ephemeral' },
    },
    { ...totals(50, 9), inputDetails: { cache_creation: 20 } },
  ],
  [
    'Alibaba, with cache writes by time to live',
    {
      prompt_tokens: 50,
      completion_tokens: 9,
      prompt_tokens_details: {
        cache_creation: { ephemeral_5m_input_tokens: 20 },
        cache_creation_input_tokens: 20,
      },
    },
    { ...totals(50, 9), inputDetails: { ephemeral_5m_input_tokens: 20 } },
  ],
  [
    'OpenRouter, where a free model costs nothing',
    { prompt_tokens: 5, completion_tokens: 9, cost: 0 },
    { ...totals(5, 9), totalCost: 0 },
  ],
  [
    'a server with overlapping details',
    {
      prompt_tokens: 10,
      completion_tokens: 0,
      prompt_tokens_details: { cached_tokens: 8, audio_tokens: 9, image_tokens: 3 },
    },
    { ...totals(10, 0), inputDetails: { cache_read: 8, audio: 2 } },
  ],
  [
    'a server with counts that are no numbers',
    { prompt_tokens: -1, completion_tokens: 'many', prompt_tokens_details: 7 },
    totals(0, 0),
  ],
])('usage of %s is a partition', (_, usage, expected) => {
  expect(usageOf(usage)).toEqual(expected)
})

test('a response without counts has no usage', () => {
  for (const usage of [undefined, null, {}, { total_cost: 1 }, 'none']) expect(usageOf(usage)).toBeUndefined()
})

test('a service tier with its own prices names the details that it prices', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 6,
    prompt_tokens_details: { cached_tokens: 4, audio_tokens: 1 },
    completion_tokens_details: { reasoning_tokens: 6 },
  }
  expect(usageOf(usage, { service_tier: 'priority' })).toEqual({
    ...totals(10, 6),
    inputDetails: { priority_cache_read: 4, audio: 1, priority: 5 },
    outputDetails: { priority_reasoning: 6 },
  })
  expect(usageOf(usage, { service_tier: 'default' })?.inputDetails).toEqual({ cache_read: 4, audio: 1 })
})
