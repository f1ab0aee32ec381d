import fc from 'fast-check'
import { anyUrl } from '../../kit/arbitraries.ts'
import { args, count, interleave, name, picks, pieces, rawArgs, text, unknown } from '../arbitraries.ts'
import type { Example } from '../examples.ts'

const about = fc.option(
  text.map((signature) => ({ anthropic: { signature } })),
  { nil: undefined },
)

const part = fc.oneof(
  fc.record({ type: fc.constantFrom('text' as const, 'reasoning' as const), text, providerMetadata: about }),
  fc.record({
    type: fc.constant('tool-call' as const),
    toolName: name,
    raw: rawArgs,
    args,
    providerExecuted: fc.constantFrom(true, undefined),
    announced: fc.boolean(),
    others: unknown('part'),
  }),
  fc.record({
    type: fc.constant('tool-result' as const),
    value: fc.jsonValue({ maxDepth: 1 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
    failed: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('source' as const),
    sourceType: fc.constant('url'),
    url: anyUrl(),
    title: fc.option(text, { nil: undefined }),
  }),
  fc.record({
    type: fc.constant('file' as const),
    mediaType: fc.constantFrom('image/png', 'application/pdf', 'audio/wav'),
    data: fc.constantFrom('AAAA', 'https://a.example/1', 'data:image/png;base64,iVBO'),
  }),
  fc.record({ type: fc.constant('tool-approval-request' as const), approvalId: text }),
)

const flatUsage = fc.record(
  {
    inputTokens: count,
    outputTokens: count,
    totalTokens: count,
    reasoningTokens: count,
    cachedInputTokens: count,
  },
  { requiredKeys: [] },
)
const nestedUsage = fc.record({
  inputTokens: fc.record({ total: count, cacheRead: count, cacheWrite: count, noCache: count }),
  outputTokens: fc.record({ total: count, reasoning: count, text: count }),
  raw: fc.constantFrom(undefined, { cache_creation: { ephemeral_5m_input_tokens: 7 } }),
})
const publicUsage = fc.record({
  inputTokens: count,
  inputTokenDetails: fc.record({ cacheReadTokens: count, cacheWriteTokens: count }),
  outputTokens: count,
  outputTokenDetails: fc.record({ reasoningTokens: count }),
  totalTokens: count,
})
const provider = fc.constantFrom(
  undefined,
  { anthropic: { cacheCreationInputTokens: 9 } },
  { bedrock: { usage: { cacheWriteInputTokens: 4 } } },
  { google: { groundingMetadata: null } },
)

type Part = typeof part extends fc.Arbitrary<infer Value> ? Value : never

/** A part of the content, and the parts of a stream that make it. */
function written(value: Part, index: number, ofModel: boolean, picks: Iterator<number>): [object, object[]] {
  const id = `id-${index}`
  if (value.type === 'text' || value.type === 'reasoning') {
    const { type, text, providerMetadata } = value
    const field = ofModel ? 'delta' : 'text'
    return [
      { type, text, providerMetadata },
      [
        { type: `${type}-start`, id },
        ...pieces(text, picks).map((piece) => ({ type: `${type}-delta`, id, [field]: piece })),
        { type: `${type}-end`, id, providerMetadata },
      ],
    ]
  }
  if (value.type === 'tool-call') {
    const { raw, args, announced, others, ...call } = value
    const input = ofModel ? raw : args
    const whole = { ...call, toolCallId: id, input, ...others }
    const { type: _, ...start } = call
    const streamed = [
      { type: 'tool-input-start', id, ...start },
      ...pieces(ofModel ? raw : JSON.stringify(args), picks).map((delta) => ({
        type: 'tool-input-delta',
        id,
        delta,
      })),
      { type: 'tool-input-end', id },
    ]
    return [whole, [...(announced ? streamed : []), whole]]
  }
  if (value.type === 'tool-result') {
    const about = { toolCallId: id, toolName: 'f' }
    const failed = ofModel ? value.failed : false
    const whole = ofModel
      ? { type: value.type, ...about, result: value.value, isError: failed || undefined }
      : value.failed
        ? { type: 'tool-error', ...about, input: {}, error: value.value }
        : { type: value.type, ...about, input: {}, output: value.value }
    return [whole, value.failed ? [whole] : [{ ...whole, preliminary: true }, whole]]
  }
  return [value, [value]]
}

const STOPS = fc.constantFrom('stop', 'length', 'tool-calls', 'content-filter', 'other')

/** Results of language models V2 and V3, as middleware gets them. */
const ofModel = fc
  .record({
    parts: fc.array(part, { maxLength: 5 }),
    flat: flatUsage,
    nested: nestedUsage,
    newer: fc.boolean(),
    stop: STOPS,
    providerMetadata: provider,
    others: unknown('top'),
    picks,
  })
  .map(({ parts, flat, nested, newer, stop, providerMetadata, others, picks }): Example => {
    const content = parts.map((value, index) => written(value, index, true, picks))
    const response = { id: 'resp-1', modelId: 'm', timestamp: '2026-01-01T00:00:00.000Z' }
    const end = {
      finishReason: newer ? { unified: stop, raw: 'pause_turn' } : stop,
      usage: newer ? nested : flat,
      providerMetadata,
      ...others,
    }
    return {
      response: { content: content.map(([whole]) => whole), ...end, response, warnings: [{ type: 'other' }] },
      chunks: [
        { type: 'stream-start', warnings: [{ type: 'other' }] },
        { type: 'response-metadata', ...response },
        ...interleave(
          content.map(([, streamed]) => streamed),
          picks,
        ),
        { type: 'raw', rawValue: { a: 1 } },
        { type: 'finish', ...end },
      ],
    }
  })

/** Results of `generateText`, and the `fullStream` of `streamText`. The ids of blocks start again with each step. */
const ofSdk = fc
  .record({
    steps: fc.array(
      fc.record({ parts: fc.array(part, { maxLength: 3 }), usage: publicUsage, stop: STOPS, provider }),
      { minLength: 1, maxLength: 3 },
    ),
    older: fc.boolean(),
    flat: flatUsage,
    others: unknown('top'),
    picks,
  })
  .map(({ steps, older, flat, others, picks }): Example => {
    const written_ = steps.map(({ parts, usage, stop, provider }, index) => {
      const content = parts.map((value, at) => written(value, at, false, picks))
      const end = {
        finishReason: stop,
        rawFinishReason: `raw-${stop}`,
        usage: older ? flat : usage,
        providerMetadata: provider,
        response: { id: `resp-${index}`, modelId: 'm', timestamp: '2026-01-01T00:00:00.000Z', headers: {} },
      }
      return {
        whole: { content: content.map(([whole]) => whole), ...end, warnings: [], request: {} },
        chunks: [
          { type: 'start-step', request: {}, warnings: [] },
          ...interleave(
            content.map(([, streamed]) => streamed),
            picks,
          ),
          { type: 'finish-step', ...end },
        ],
      }
    })
    const { stop, usage } = steps.at(-1)!
    const totals = { finishReason: stop, totalUsage: older ? flat : usage, ...others }
    return {
      response: { steps: written_.map(({ whole }) => whole), ...totals },
      chunks: [{ type: 'start' }, ...written_.flatMap(({ chunks }) => chunks), { type: 'finish', ...totals }],
    }
  })

export const vercel = fc.oneof(ofModel, ofSdk)
