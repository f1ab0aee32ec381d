import fc from 'fast-check'
import { args, count, name, picks, pieces, rawArgs, text, unknown } from '../arbitraries.ts'
import type { Example } from '../examples.ts'

const part = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('thinking' as const), thinking: text, signature: fc.option(text) }),
  fc.record({ type: fc.constant('reference' as const), referenceIds: fc.array(fc.nat(), { minLength: 1 }) }),
  fc.record({ type: fc.constant('image_url' as const), imageUrl: fc.constant('https://a/b.png') }),
)

const usage = fc.record(
  {
    promptTokens: count,
    completionTokens: count,
    totalTokens: count,
    promptAudioSeconds: count,
    numCachedTokens: count,
    promptTokensDetails: fc.option(fc.record({ cachedTokens: count })),
    promptTokenDetails: fc.option(fc.record({ cachedTokens: count })),
  },
  { requiredKeys: [] },
)

const think = (text: string, others: object = {}) => ({
  type: 'thinking',
  thinking: [{ type: 'text', text }],
  ...others,
})

/** Responses of Mistral, as its SDK returns them. */
export const mistral: fc.Arbitrary<Example> = fc
  .record({
    parts: fc
      .array(part, { maxLength: 5 })
      .map((parts) => parts.filter(({ type }, at) => type !== parts[at - 1]?.type || /image|ref/.test(type))),
    calls: fc.array(fc.record({ name, args: fc.oneof(rawArgs, args) }), { maxLength: 3 }),
    reason: fc.constantFrom('stop', 'model_length', 'tool_calls', 'error'),
    usage,
    ofMessage: unknown('message'),
    others: unknown('top'),
    picks,
  })
  .map(({ parts, calls, reason, usage, ofMessage, others, picks }) => {
    const about = { id: 'm1', model: 'mistral-x', created: 7, ...others }
    const toolCalls = calls.map(({ name, args }, index) => ({
      index,
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: args },
    }))
    const deltas: object[] = [
      { role: 'assistant', content: '' },
      ...parts.flatMap((part): object[] => {
        if (part.type === 'text') return pieces(part.text, picks).map((content) => ({ content }))
        if (part.type !== 'thinking') return [{ content: [part] }]
        const sign = part.signature === null ? [] : [think('', { signature: part.signature, closed: true })]
        return [...pieces(part.thinking, picks).map((piece) => think(piece)), ...sign].map((content) => ({
          content: [content],
        }))
      }),
      ...(toolCalls.length > 0 ? [{ toolCalls }] : []),
      ofMessage,
    ]
    return {
      response: {
        ...about,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: parts.map((part) =>
                part.type === 'thinking'
                  ? think(
                      part.thinking,
                      part.signature === null ? {} : { signature: part.signature, closed: true },
                    )
                  : part,
              ),
              ...(toolCalls.length > 0 && { toolCalls }),
              ...ofMessage,
            },
            finishReason: reason,
          },
        ],
        usage,
      },
      chunks: [
        ...deltas.map((delta) => ({ ...about, choices: [{ index: 0, delta, finishReason: null }] })),
        { ...about, choices: [{ index: 0, delta: { content: '' }, finishReason: reason }], usage },
      ].map((data) => ({ data })),
    }
  })
