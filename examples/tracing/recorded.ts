/** Recorded provider responses, so that the example runs without keys and without a network. */

const chat = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'gpt-4o-2024-08-06',
  choices: [{ index: 0, delta, finish_reason }],
  usage: null,
})

const call = (index: number, id: string, city: string) => [
  chat({ tool_calls: [{ index, id, type: 'function', function: { name: 'weather', arguments: '' } }] }),
  chat({ tool_calls: [{ index, function: { arguments: '{"city":' } }] }),
  chat({ tool_calls: [{ index, function: { arguments: `"${city}"}` } }] }),
]

/** OpenAI, streamed: two parallel tool calls. */
export const openaiChunks = [
  chat({ role: 'assistant', content: '' }),
  ...['Let me ', 'look that up.'].map((content) => chat({ content })),
  ...call(0, 'call_paris', 'Paris'),
  ...call(1, 'call_rome', 'Rome'),
  chat({}, 'tool_calls'),
  {
    ...chat({}),
    choices: [],
    usage: {
      prompt_tokens: 1_280,
      completion_tokens: 42,
      total_tokens: 1_322,
      prompt_tokens_details: { cached_tokens: 1_024 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  },
]

/** Anthropic, streamed: thinking with its signature, then the answer. */
export const anthropicEvents = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [],
      stop_reason: null,
      usage: {
        input_tokens: 60,
        cache_read_input_tokens: 900,
        cache_creation_input_tokens: 200,
        output_tokens: 1,
      },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'thinking_delta', thinking: 'Both are warm; Rome more so.' },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'EqoBCk…' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  ...['Rome, ', 'at 27 degrees.'].map((text) => ({
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'text_delta', text },
  })),
  { type: 'content_block_stop', index: 1 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 31 },
  },
  { type: 'message_stop' },
]

/** A custom model's message, with its token counts. */
export const ownAnswer = {
  message: { role: 'assistant', content: [{ type: 'text', text: 'Pack light.' }] },
  usage_metadata: { input_tokens: 12, output_tokens: 4, total_tokens: 16 },
}

/** Yields the chunks one by one, like a stream. */
export async function* streamOf<Chunk>(chunks: readonly Chunk[]): AsyncGenerator<Chunk> {
  for (const chunk of chunks) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    yield chunk
  }
}
