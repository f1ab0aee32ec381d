import fc from 'fast-check'
import { args, count, interleave, name, picks, pieces, text, unknown } from '../arbitraries.ts'
import type { Example } from '../examples.ts'

/** Responses of Ollama. */
export const ollama: fc.Arbitrary<Example> = fc
  .record({
    thinking: fc.option(text),
    content: fc.option(text),
    calls: fc.array(fc.record({ name, arguments: args }), { maxLength: 3 }),
    end: fc.record({
      done_reason: fc.constantFrom('stop', 'length', 'load'),
      prompt_eval_count: count,
      eval_count: count,
      total_duration: fc.nat(),
    }),
    ofMessage: unknown('message'),
    others: unknown('top'),
    picks,
  })
  .map(({ thinking, content, calls, end, ofMessage, others, picks }) => {
    const about = { model: 'llama', created_at: '2025-01-01T00:00:00Z', ...others }
    const tool_calls = calls.map((call) => ({ function: call }))
    const streams = [
      pieces(thinking ?? '', picks).map((thinking) => ({ content: '', thinking })),
      pieces(content ?? '', picks).map((content) => ({ content })),
      tool_calls.map((call) => ({ content: '', tool_calls: [call] })),
    ]
    return {
      response: {
        ...about,
        message: {
          role: 'assistant',
          content: content ?? '',
          ...(thinking !== null && { thinking }),
          ...(calls.length > 0 && { tool_calls }),
          ...ofMessage,
        },
        done: true,
        ...end,
      },
      chunks: [
        ...interleave<object>(
          streams.filter((list) => list.length > 0),
          picks,
        ).map((message) => ({ ...about, message: { role: 'assistant', ...message }, done: false })),
        { ...about, message: { role: 'assistant', content: '', ...ofMessage }, done: true, ...end },
      ],
    }
  })
