import fc from 'fast-check'
import { anyUrl } from '../../kit/arbitraries.ts'
import { args, count, interleave, name, picks, pieces, rawArgs, text, unknown } from '../arbitraries.ts'
import type { Example } from '../examples.ts'

const usage = fc.record(
  {
    input_tokens: count,
    output_tokens: count,
    total_tokens: count,
    input_token_details: fc.record(
      {
        cache_read: count,
        cache_creation: count,
        ephemeral_5m_input_tokens: count,
        text: count,
        audio: count,
      },
      { requiredKeys: [] },
    ),
    output_token_details: fc.record({ reasoning: count }),
  },
  { requiredKeys: [] },
)

const block = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('thinking' as const), thinking: text, signature: text }),
  fc.record({ type: fc.constant('reasoning' as const), reasoning: text }),
  fc.record({ type: fc.constant('tool_use' as const), name, raw: rawArgs }),
  fc.record({ type: fc.constant('server_tool_use' as const), name, args }),
  fc.record({
    type: fc.constant('server_tool_call_result' as const),
    toolCallId: text,
    status: fc.constantFrom('success', 'error'),
    output: unknown('result'),
  }),
  fc.record({ type: fc.constant('image' as const), url: anyUrl(), mimeType: fc.constant('image/png') }),
  fc.record({ type: fc.constant('hologram' as const), depth: fc.nat() }),
)

type Block = typeof block extends fc.Arbitrary<infer Value> ? Value : never

interface Written {
  readonly content?: unknown
  readonly tool_call_chunks?: readonly object[]
}

/** A merged block of the content, and its pieces. */
function written(value: Block, index: number, picks: Iterator<number>): [Written, Written[]] {
  const at = { type: value.type, index }
  const one = (piece: object): Written => ({ content: [{ ...at, ...piece }] })
  const id = `call-${index}`
  switch (value.type) {
    case 'text':
      return [one(value), pieces(value.text, picks).map((text) => one({ text }))]
    case 'reasoning':
      return [one(value), pieces(value.reasoning, picks).map((reasoning) => one({ reasoning }))]
    case 'thinking': {
      const { signature } = value
      const thoughts = pieces(value.thinking, picks).map((thinking) => one({ thinking }))
      return [one(value), [...thoughts, one({ signature })]]
    }
    case 'tool_use': {
      const { name, raw } = value
      const call = { index, id, name, type: 'tool_call_chunk' }
      return [
        { ...one({ id, name, input: raw }), tool_call_chunks: [{ ...call, args: raw }] },
        [
          { ...one({ id, name, input: '' }), tool_call_chunks: [{ ...call, args: '' }] },
          ...pieces(raw, picks).map((args) => ({
            content: [{ index, type: 'input_json_delta', input: args }],
            tool_call_chunks: [{ index, args, type: 'tool_call_chunk' }],
          })),
        ],
      ]
    }
    case 'server_tool_use': {
      const { name, args } = value
      return [
        one({ id, name, input: args }),
        [
          one({ id, name, input: '' }),
          ...pieces(JSON.stringify(args), picks).map((args) => ({
            content: [{ index, type: 'input_json_delta', input: args }],
            tool_call_chunks: [{ index, args, type: 'tool_call_chunk' }],
          })),
        ],
      ]
    }
    default:
      return [one(value), [one(value)]]
  }
}

/** Writes a message as an envelope or as a plain record. */
const dressed = (fields: object, name: string, envelope: boolean): object =>
  envelope
    ? { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', name], kwargs: fields }
    : { type: name, ...fields }

/** Messages whose content is blocks, as from Anthropic. */
const inBlocks = fc.record({ blocks: fc.array(block, { maxLength: 5 }), picks }).map(({ blocks, picks }) => {
  const all = blocks.map((value, index) => written(value, index, picks))
  const whole = all.map(([whole]) => whole)
  return {
    whole: {
      content: whole.flatMap(({ content }) => content as object[]),
      tool_call_chunks: whole.flatMap(({ tool_call_chunks = [] }) => tool_call_chunks),
    },
    chunks: interleave(
      all.map(([, chunks]) => chunks),
      picks,
    ),
  }
})

/** Messages whose content is text, as from OpenAI. */
const inText = fc
  .record({
    thought: fc.option(text),
    content: fc.option(text),
    calls: fc.array(fc.record({ name, args: rawArgs }), { maxLength: 3 }),
    indexed: fc.boolean(),
    picks,
  })
  .map(({ thought, content, calls, indexed, picks }) => {
    const chunks = calls.map(({ name, args }, index) => ({ name, args, id: `call-${index}`, index }))
    return {
      whole: {
        content: content ?? '',
        tool_call_chunks: chunks,
        additional_kwargs: thought === null ? {} : { reasoning_content: thought },
      },
      chunks: [
        ...interleave<Written>(
          [
            pieces(thought ?? '', picks).map((piece) => ({
              content: '',
              additional_kwargs: { reasoning_content: piece },
            })),
            pieces(content ?? '', picks).map((piece) => ({ content: piece })),
          ].filter((list) => list.length > 0),
          picks,
        ),
        ...chunks.flatMap(({ args, index, ...call }) => {
          const at = indexed ? { index } : {}
          return [
            { content: '', tool_call_chunks: [{ ...call, ...at, args: '' }] },
            ...pieces(args, picks).map((piece) => ({
              content: '',
              tool_call_chunks: [{ ...at, args: piece }],
            })),
          ]
        }),
      ],
    }
  })

export const langchain: fc.Arbitrary<Example> = fc
  .record({
    message: fc.oneof(inBlocks, inText),
    usage,
    envelope: fc.boolean(),
    others: unknown('top'),
    ofMessage: unknown('message'),
  })
  .map(({ message, usage, envelope, others, ofMessage }) => {
    const about = { model_name: 'm', model_provider: 'p', finish_reason: 'stop', ...others }
    const end = { response_metadata: about, usage_metadata: usage, ...ofMessage }
    const id = 'run-1'
    return {
      response: {
        generations: [
          [{ text: '', message: dressed({ id, ...message.whole, ...end }, 'AIMessageChunk', envelope) }],
        ],
      },
      chunks: [
        { content: '', response_metadata: { model_name: 'm' } },
        ...message.chunks,
        { content: '', ...end },
      ].map((chunk) => dressed({ id, ...chunk }, 'AIMessageChunk', envelope)),
    }
  })
