import fc from 'fast-check'
import { args, count, name, picks, pieces, text, unknown } from '../arbitraries.ts'
import type { Example } from '../examples.ts'

const usage = fc.record(
  {
    inputTokens: count,
    outputTokens: count,
    totalTokens: count,
    cacheReadInputTokens: count,
    cacheReadInputTokenCount: count,
    cacheWriteInputTokens: count,
    cacheDetails: fc.option(
      fc.array(fc.record({ ttl: fc.constantFrom('5m', '1h', '9d'), inputTokens: count }), { maxLength: 3 }),
    ),
  },
  { requiredKeys: [] },
)

const source = fc.record({
  title: text,
  source: text,
  sourceContent: fc.array(fc.record({ text })),
  location: fc.record({
    documentChar: fc.record({ documentIndex: fc.nat(), start: fc.nat(), end: fc.nat() }),
  }),
})

const block = fc.oneof(
  fc.record({ text }),
  fc.record({ reasoningContent: fc.record({ reasoningText: fc.record({ text, signature: text }) }) }),
  fc.record({ reasoningContent: fc.record({ redactedContent: fc.constant('c2VjcmV0') }) }),
  fc.record({
    toolUse: fc.record(
      { toolUseId: text, name, input: args, type: fc.constant('server_tool_use') },
      {
        requiredKeys: ['toolUseId', 'name', 'input'],
      },
    ),
  }),
  fc.record({
    citationsContent: fc.record({ content: fc.array(fc.record({ text })), citations: fc.array(source) }),
  }),
  fc.record({ image: fc.record({ format: fc.constant('png'), source: fc.constant({ bytes: 'AAAA' }) }) }),
)

/** Makes the events of a block. */
function eventsOf(block: Record<string, unknown>, at: number, picks: Iterator<number>): object[] {
  const [[kind, value]] = Object.entries(block) as [[string, Record<string, unknown>]]
  const open = (start: object) => ({ contentBlockStart: { start, contentBlockIndex: at } })
  const deltas = (list: object[]) =>
    list.map((delta) => ({ contentBlockDelta: { delta, contentBlockIndex: at } }))
  const cut = (value: string) => pieces(value, picks)
  switch (kind) {
    case 'text':
      return deltas(cut(String(value)).map((text) => ({ text })))
    case 'reasoningContent': {
      const { reasoningText } = value
      if (!reasoningText) return deltas([{ reasoningContent: value }])
      const { text, signature } = reasoningText as { text: string; signature: string }
      return deltas(
        [...cut(text).map((text) => ({ text })), { signature }].map((reasoningContent) => ({
          reasoningContent,
        })),
      )
    }
    case 'toolUse': {
      const { input, ...start } = value
      return [
        open({ toolUse: start }),
        ...deltas(cut(JSON.stringify(input)).map((input) => ({ toolUse: { input } }))),
      ]
    }
    case 'citationsContent': {
      const text = (value.content as { text: string }[]).map(({ text }) => text).join('')
      return deltas([
        { text: '' },
        ...cut(text).map((text) => ({ text })),
        ...(value.citations as object[]).map((citation) => ({ citation })),
      ])
    }
    default:
      return [open({ image: { format: value.format } }), ...deltas([{ image: { source: value.source } }])]
  }
}

/** Responses of Bedrock's Converse. */
export const bedrockConverse: fc.Arbitrary<Example> = fc
  .record({
    blocks: fc.array(block, { maxLength: 5 }),
    usage,
    stopReason: fc.constantFrom('end_turn', 'tool_use', 'guardrail_intervened', 'new_reason'),
    others: unknown('top'),
    picks,
  })
  .map(({ blocks, usage, stopReason, others, picks }) => ({
    response: {
      output: { message: { role: 'assistant', content: blocks } },
      stopReason,
      usage,
      metrics: { latencyMs: 7 },
      ...others,
      $metadata: { requestId: 'r' },
    },
    chunks: [
      { messageStart: { role: 'assistant', p: 'abcd' } },
      ...blocks.flatMap((block, at) => [
        ...eventsOf(block, at, picks),
        { contentBlockStop: { contentBlockIndex: at } },
      ]),
      { messageStop: { stopReason } },
      { metadata: { usage, metrics: { latencyMs: 7 }, ...others, p: 'ab' } },
    ],
  }))

/** Responses of Anthropic Messages, as Bedrock's InvokeModel returns them. */
export const toInvoke = (messages: fc.Arbitrary<Example>): fc.Arbitrary<Example> =>
  messages.map(({ response, chunks }) => ({
    response: { body: JSON.stringify(response), contentType: 'application/json' },
    chunks: chunks.map((chunk) => ({
      chunk: { bytes: btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(chunk)))) },
    })),
  }))
