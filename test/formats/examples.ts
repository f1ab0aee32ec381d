import fc from 'fast-check'
import {
  anthropicMessages,
  bedrockConverse,
  bedrockInvoke,
  cohere,
  type Format,
  gemini,
  geminiInteractions,
  generic,
  langchain,
  mistral,
  ollama,
  openaiChat,
  openaiResponses,
  vercel,
} from '../../src/models/formats/index.ts'
import { args, count, interleave, name, picks, pieces, rawArgs, text, unknown } from './arbitraries.ts'
import { bedrockConverse as converseExamples, toInvoke } from './examples/bedrock.ts'
import { cohere as cohereExamples } from './examples/cohere.ts'
import { gemini as geminiExamples } from './examples/gemini.ts'
import { geminiInteractions as interactionExamples } from './examples/gemini-interactions.ts'
import { generic as genericExamples } from './examples/generic.ts'
import { langchain as langchainExamples } from './examples/langchain.ts'
import { mistral as mistralExamples } from './examples/mistral.ts'
import { ollama as ollamaExamples } from './examples/ollama.ts'
import { vercel as vercelExamples } from './examples/vercel.ts'

/** A whole response, and the same response as a stream that was cut anywhere. */
export interface Example {
  readonly response: Record<string, unknown>
  readonly chunks: readonly unknown[]
}

/* OpenAI Chat Completions */

const chatUsage = fc.record(
  {
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: fc.record({
      cached_tokens: count,
      audio_tokens: count,
      image_tokens: count,
      cache_write_tokens: count,
    }),
    completion_tokens_details: fc.record({ reasoning_tokens: count, audio_tokens: count }),
    prompt_cache_hit_tokens: count,
    cache_creation_input_tokens: count,
    cost: count,
  },
  { requiredKeys: [] },
)

const chatChoice = fc.record({
  reasoning: fc.option(text),
  content: fc.option(text),
  refusal: fc.option(text),
  calls: fc.array(fc.record({ name, args: rawArgs, custom: fc.boolean() }), { maxLength: 3 }),
  reason: fc.constantFrom('stop', 'length', 'tool_calls', 'new_reason'),
  ofMessage: unknown('message'),
  ofChoice: unknown('choice'),
})

const chat: fc.Arbitrary<Example> = fc
  .record({
    choices: fc.array(chatChoice, { minLength: 1, maxLength: 3 }),
    usage: chatUsage,
    others: unknown('top'),
    picks,
  })
  .map(({ choices, usage, others, picks }) => {
    const about = { id: 'chatcmpl-1', created: 7, model: 'm', ...others }
    const calls = choices.map((choice) =>
      choice.calls.map(({ name, args, custom }, index) =>
        custom
          ? { id: `call_${index}`, type: 'custom', custom: { name, input: args } }
          : { id: `call_${index}`, type: 'function', function: { name, arguments: args } },
      ),
    )
    const response = {
      ...about,
      object: 'chat.completion',
      choices: choices.map(({ reasoning, content, refusal, reason, ofMessage, ofChoice }, index) => ({
        index,
        message: {
          role: 'assistant',
          ...(reasoning !== null && { reasoning_content: reasoning }),
          content,
          refusal,
          ...(calls[index]!.length > 0 && { tool_calls: calls[index] }),
          ...ofMessage,
        },
        finish_reason: reason,
        ...ofChoice,
      })),
      usage,
    }
    const streams = choices.map((choice, index) => {
      const textual = (['reasoning_content', 'content', 'refusal'] as const).map((field) =>
        pieces(choice[field === 'reasoning_content' ? 'reasoning' : field] ?? '', picks).map((piece) => ({
          [field]: piece,
        })),
      )
      const called = choice.calls.map(({ args, custom }, at) => {
        const { id, type, ...first } = calls[index]![at]!
        const field = custom ? 'custom' : 'function'
        const argument = custom ? 'input' : 'arguments'
        const start = { index: at, id, type, [field]: { ...Object.values(first)[0], [argument]: '' } }
        const rest = pieces(args, picks).map((piece) => ({ index: at, [field]: { [argument]: piece } }))
        return [start, ...rest].map((call) => ({ tool_calls: [call] }))
      })
      const deltas = [
        { role: 'assistant', content: '' },
        ...interleave<object>(
          [...textual, ...called].filter((list) => list.length > 0),
          picks,
        ),
        choice.ofMessage,
      ]
      return [
        ...deltas.map((delta) => ({ index, delta, finish_reason: null, logprobs: null })),
        { index, delta: {}, finish_reason: choice.reason, ...choice.ofChoice },
      ]
    })
    const chunks = interleave(streams, picks).map((choice) => ({
      ...about,
      object: 'chat.completion.chunk',
      choices: [choice],
      usage: null,
    }))
    return {
      response,
      chunks: [...chunks, { ...about, object: 'chat.completion.chunk', choices: [], usage }],
    }
  })

/* Anthropic Messages */

const anthropicUsage = fc.record(
  {
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    cache_creation: fc.option(
      fc.record({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
    ),
    output_tokens_details: fc.option(fc.record({ thinking_tokens: count })),
    iterations: fc.array(
      fc.record({
        type: fc.constantFrom('message', 'compaction', 'fallback_message'),
        input_tokens: count,
        output_tokens: count,
      }),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
)

const citation = fc.record({
  type: fc.constant('char_location'),
  cited_text: text,
  document_index: fc.nat(),
  document_title: fc.option(text),
})

const anthropicBlock = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text, citations: fc.array(citation, { maxLength: 2 }) }),
  fc.record({ type: fc.constant('thinking' as const), thinking: text, signature: text }),
  fc.record({ type: fc.constant('redacted_thinking' as const), data: text }),
  fc.record({
    type: fc.constantFrom('tool_use' as const, 'server_tool_use' as const),
    id: fc.constant('tu_1'),
    name,
    input: args,
  }),
  fc.record({
    type: fc.constant('web_search_tool_result' as const),
    tool_use_id: text,
    content: fc.array(unknown('result')),
  }),
  fc.record({ type: fc.constant('hologram' as const), value: text }),
)

const anthropic: fc.Arbitrary<Example> = fc
  .record({
    blocks: fc.array(anthropicBlock, { maxLength: 5 }),
    usage: anthropicUsage,
    others: unknown('top'),
    picks,
  })
  .map(({ blocks, usage, others, picks }) => {
    const ends = { stop_reason: 'end_turn', stop_sequence: null }
    const about = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', ...others }
    const said = Object.fromEntries(
      Object.entries(usage).filter(([, value]) => value !== null && value !== undefined),
    )
    const events = blocks.flatMap((block, index) => {
      const cut = (value: string, piece: (piece: string) => object) => pieces(value, picks).map(piece)
      const [start, deltas] = ((): [object, object[]] => {
        switch (block.type) {
          case 'text':
            return [
              { ...block, text: '', citations: null },
              [
                ...block.citations.map((citation) => ({ type: 'citations_delta', citation })),
                ...cut(block.text, (text) => ({ type: 'text_delta', text })),
              ],
            ]
          case 'thinking':
            return [
              { ...block, thinking: '', signature: '' },
              [
                ...cut(block.thinking, (thinking) => ({ type: 'thinking_delta', thinking })),
                { type: 'signature_delta', signature: block.signature },
              ],
            ]
          case 'tool_use':
          case 'server_tool_use':
            return [
              { ...block, input: {} },
              cut(JSON.stringify(block.input), (partial_json) => ({
                type: 'input_json_delta',
                partial_json,
              })),
            ]
          default:
            return [block, []]
        }
      })()
      return [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]
    })
    return {
      response: { ...about, content: blocks, ...ends, usage: said },
      chunks: [
        { type: 'message_start', message: { ...about, content: [], stop_reason: null, usage: said } },
        { type: 'ping' },
        ...events,
        { type: 'message_delta', delta: ends, usage: { output_tokens: said.output_tokens ?? null } },
        { type: 'message_stop' },
      ],
    }
  })

/* OpenAI Responses */

const responsesUsage = fc.record(
  {
    input_tokens: count,
    input_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count }),
    output_tokens: count,
    output_tokens_details: fc.record({ reasoning_tokens: count }),
  },
  { requiredKeys: [] },
)

const responsesItem = fc.oneof(
  fc.record({
    type: fc.constant('message' as const),
    id: text,
    role: fc.constant('assistant'),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('output_text' as const), text, annotations: fc.constant([]) }),
        fc.record({ type: fc.constant('refusal' as const), refusal: text }),
      ),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  fc.record({
    type: fc.constant('reasoning' as const),
    id: text,
    summary: fc.array(fc.record({ type: fc.constant('summary_text'), text }), { maxLength: 2 }),
    encrypted_content: text,
  }),
  fc.record({
    type: fc.constant('function_call' as const),
    id: text,
    call_id: text,
    name,
    arguments: rawArgs,
  }),
  fc.record({
    type: fc.constant('web_search_call' as const),
    id: text,
    action: fc.constant({ type: 'search' }),
  }),
  fc.record({ type: fc.constant('hologram' as const), id: text }),
)

const responses: fc.Arbitrary<Example> = fc
  .record({
    items: fc.array(responsesItem, { maxLength: 5 }),
    usage: responsesUsage,
    others: unknown('top'),
    terminal: fc.boolean(),
    picks,
  })
  .map(({ items, usage, others, picks }) => {
    const response = {
      id: 'resp_1',
      object: 'response',
      model: 'm',
      status: 'completed',
      output: items,
      usage,
      ...others,
    }
    const streams = items.map((item, output_index) => {
      const at = { output_index }
      const cut = (name: string, value: string, place: object = {}) =>
        pieces(value, picks).map((delta) => ({ type: `response.${name}.delta`, ...at, ...place, delta }))
      const [start, deltas] = ((): [object, object[]] => {
        switch (item.type) {
          case 'message':
            return [
              { ...item, content: [] },
              item.content.flatMap((part, content_index) =>
                part.type === 'output_text'
                  ? cut('output_text', part.text, { content_index })
                  : cut('refusal', part.refusal, { content_index }),
              ),
            ]
          case 'reasoning':
            return [
              { ...item, summary: [], encrypted_content: null },
              item.summary.flatMap(({ text }, summary_index) =>
                cut('reasoning_summary_text', text, { summary_index }),
              ),
            ]
          case 'function_call':
            return [{ ...item, arguments: '' }, cut('function_call_arguments', item.arguments)]
          default:
            return [item, []]
        }
      })()
      return [
        { type: 'response.output_item.added', ...at, item: start },
        ...deltas,
        { type: 'response.output_item.done', ...at, item },
      ]
    })
    return {
      response,
      chunks: [
        {
          type: 'response.created',
          response: { ...response, status: 'in_progress', output: [], usage: null },
        },
        ...streams.flat(),
        { type: 'response.completed', response },
      ],
    }
  })

/** The formats, each with examples of its responses. */
export const formats: [string, Format, fc.Arbitrary<Example>][] = [
  ['openaiChat', openaiChat, chat],
  ['anthropicMessages', anthropicMessages, anthropic],
  ['openaiResponses', openaiResponses, responses],
  ['gemini', gemini, geminiExamples],
  ['geminiInteractions', geminiInteractions, interactionExamples],
  ['bedrockConverse', bedrockConverse, converseExamples],
  ['mistral', mistral, mistralExamples],
  ['cohere', cohere, cohereExamples],
  ['ollama', ollama, ollamaExamples],
  ['bedrockInvoke', bedrockInvoke, toInvoke(anthropic)],
  ['langchain', langchain, langchainExamples],
  ['vercel', vercel, vercelExamples],
  ['generic', generic, genericExamples],
]
