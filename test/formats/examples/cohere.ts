import fc from 'fast-check'
import { count, name, picks, pieces, rawArgs, text, unknown } from '../arbitraries.ts'
import type { Example } from '../examples.ts'

const usage = fc.record(
  {
    tokens: fc.option(fc.record({ input_tokens: count, output_tokens: count })),
    billed_units: fc.option(fc.record({ input_tokens: count, output_tokens: count, search_units: count })),
    cached_tokens: count,
  },
  { requiredKeys: [] },
)

const citation = fc.record(
  {
    start: fc.nat(),
    end: fc.nat(),
    text,
    sources: fc.array(unknown('source')),
    content_index: fc.nat({ max: 2 }),
  },
  { requiredKeys: ['start', 'end', 'text', 'sources'] },
)

/** Responses of Cohere, as its API returns them. */
export const cohere: fc.Arbitrary<Example> = fc
  .record({
    plan: fc.option(text),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text' as const), text }),
        fc.record({ type: fc.constant('thinking' as const), thinking: text }),
      ),
      { maxLength: 3 },
    ),
    citations: fc.array(citation, { maxLength: 3 }),
    calls: fc.array(fc.record({ name, args: rawArgs }), { maxLength: 3 }),
    reason: fc.constantFrom('COMPLETE', 'MAX_TOKENS', 'TOOL_CALL', 'NEW_REASON'),
    usage,
    others: unknown('top'),
    picks,
  })
  .map(({ plan, content, citations, calls, reason, usage, others, picks }) => {
    const end = { finish_reason: reason, usage, ...others }
    const tool_calls = calls.map(({ name, args }, at) => ({
      id: `c${at}`,
      type: 'function',
      function: { name, arguments: args },
    }))
    const event = (type: string, message?: object, index?: number) => ({
      type,
      ...(index !== undefined && { index }),
      ...(message && { delta: { message } }),
    })
    return {
      response: {
        id: 'r1',
        message: {
          role: 'assistant',
          ...(plan !== null && { tool_plan: plan }),
          content,
          tool_calls,
          citations,
        },
        ...end,
      },
      chunks: [
        {
          type: 'message-start',
          id: 'r1',
          delta: {
            message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] },
          },
        },
        ...pieces(plan ?? '', picks).map((tool_plan) => event('tool-plan-delta', { tool_plan })),
        ...content.flatMap((part, at) => {
          const value = part.type === 'text' ? part.text : part.thinking
          return [
            event('content-start', { content: { type: part.type, [part.type]: '' } }, at),
            ...pieces(value, picks).map((piece) =>
              event('content-delta', { content: { [part.type]: piece } }, at),
            ),
            event('content-end', undefined, at),
          ]
        }),
        ...citations.flatMap((citation, at) => [
          event('citation-start', { citations: citation }, at),
          event('citation-end', undefined, at),
        ]),
        ...calls.flatMap(({ args }, at) => [
          event(
            'tool-call-start',
            { tool_calls: { ...tool_calls[at], function: { name: calls[at]!.name, arguments: '' } } },
            at,
          ),
          ...pieces(args, picks).map((piece) =>
            event('tool-call-delta', { tool_calls: { function: { arguments: piece } } }, at),
          ),
          event('tool-call-end', undefined, at),
        ]),
        { type: 'message-end', delta: end },
      ],
    }
  })
