import { describe, expect, test } from 'vitest'
import { bedrockConverse } from '../../../../src/models/formats/index.ts'
import { frozen, streamed, whole } from '../../helpers.ts'

const BYTES = new Uint8Array([1, 2, 3, 4])
const BASE64 = 'AQIDBA=='

const response = (content: readonly object[], others: object = {}) => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
  usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
  ...others,
})
// The response is not frozen, because typed arrays cannot be.
const blocksOf = (...content: object[]) =>
  bedrockConverse.readResponse(response(content)).messages[0]!.content
const usageOf = (usage: object) => whole(bedrockConverse, response([], { usage })).messages[0]!.usage
const start = (at: number, start: object) => ({ contentBlockStart: { start, contentBlockIndex: at } })
const delta = (at: number, delta: object) => ({ contentBlockDelta: { delta, contentBlockIndex: at } })
const stop = (at: number) => ({ contentBlockStop: { contentBlockIndex: at } })

test('a whole response keeps text, stop reason, usage and metadata', () => {
  const trace = { guardrail: { actionReason: 'blocked' } }
  expect(
    whole(
      bedrockConverse,
      response([{ text: 'No.' }], {
        stopReason: 'guardrail_intervened',
        trace,
        metrics: { latencyMs: 5 },
        $metadata: { requestId: 'r' },
      }),
    ),
  ).toEqual({
    messages: [
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'No.' }],
        finishReason: 'contentFilter',
        usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
        metadata: {
          stopReason: 'guardrail_intervened',
          usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
          metrics: { latencyMs: 5 },
          trace,
        },
      },
    ],
  })
})

describe('each kind of block is read', () => {
  test('thoughts keep their signature or their redacted bytes', () => {
    expect(
      blocksOf(
        { reasoningContent: { reasoningText: { text: 'Hm', signature: 's' } } },
        { reasoningContent: { redactedContent: BYTES } },
      ),
    ).toEqual([
      { type: 'reasoning', text: 'Hm', extras: { signature: 's' } },
      { type: 'reasoning', text: '', extras: { redactedContent: BASE64 } },
    ])
  })

  test('calls of our tools and of server tools differ in type', () => {
    expect(
      blocksOf(
        { toolUse: { toolUseId: 'a', name: 'f', input: { x: 1 } } },
        { toolUse: { toolUseId: 'b', name: 'f', input: '{"x":' } },
        { toolUse: { toolUseId: 'c', name: 'nova_grounding', input: {}, type: 'server_tool_use' } },
        { toolResult: { toolUseId: 'c', status: 'error', content: [{ json: { a: 1 } }], type: 'x' } },
      ),
    ).toEqual([
      { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
      { type: 'invalidToolCall', id: 'b', name: 'f', args: '{"x":', error: expect.any(String) },
      {
        type: 'serverToolCall',
        id: 'c',
        name: 'nova_grounding',
        args: {},
        extras: { type: 'server_tool_use' },
      },
      {
        type: 'serverToolResult',
        toolCallId: 'c',
        status: 'error',
        output: [{ json: { a: 1 } }],
        extras: { type: 'x' },
      },
    ])
  })

  test('media are read from bytes and from S3 locations', () => {
    expect(
      blocksOf(
        { image: { format: 'png', source: { bytes: BYTES } } },
        { video: { format: 'mp4', source: { s3Location: { uri: 's3://b/v', bucketOwner: 'me' } } } },
        { document: { format: 'pdf', name: 'doc', source: { bytes: BYTES } } },
        { document: { name: 'plain', source: { text: 'words' } } },
        { audio: { format: 'mp3', source: { bytes: BASE64 } } },
      ),
    ).toEqual([
      { type: 'image', base64: BASE64, mimeType: 'image/png', extras: { format: 'png' } },
      { type: 'video', url: 's3://b/v', mimeType: 'video/mp4', extras: { format: 'mp4', bucketOwner: 'me' } },
      { type: 'file', base64: BASE64, mimeType: 'application/pdf', extras: { format: 'pdf', name: 'doc' } },
      { type: 'nonStandard', value: { document: { name: 'plain', source: { text: 'words' } } } },
      { type: 'audio', base64: BASE64, mimeType: 'audio/mp3', extras: { format: 'mp3' } },
    ])
  })

  test('citations and guarded text are read, and unknown parts are kept', () => {
    const location = { web: { url: 'https://a', domain: 'a' } }
    expect(
      blocksOf(
        {
          citationsContent: {
            content: [{ text: 'It ' }, { text: 'is.' }],
            citations: [{ title: 'A', sourceContent: [{ text: 'It' }, { text: ' was' }], location }],
          },
        },
        { guardContent: { text: { text: 'x', qualifiers: ['query'] } } },
        { guardContent: { image: { format: 'png', source: { bytes: BYTES } } } },
        { cachePoint: { type: 'default' } },
        { $unknown: ['hologram', { bytes: BYTES }] },
      ),
    ).toEqual([
      {
        type: 'text',
        text: 'It is.',
        annotations: [
          {
            type: 'citation',
            url: 'https://a',
            title: 'A',
            citedText: 'It was',
            extras: { type: 'web', location },
          },
        ],
      },
      { type: 'text', text: 'x', extras: { type: 'guardContent', qualifiers: ['query'] } },
      {
        type: 'nonStandard',
        value: { guardContent: { image: { format: 'png', source: { bytes: BASE64 } } } },
      },
      { type: 'nonStandard', value: { cachePoint: { type: 'default' } } },
      { type: 'nonStandard', value: { $unknown: ['hologram', { bytes: BASE64 }] } },
    ])
  })
})

describe('usage is a partition', () => {
  test('cached tokens are added to the input, and duplicate counts are ignored', () => {
    expect(
      usageOf({
        inputTokens: 10,
        outputTokens: 5,
        totalTokens: 165,
        cacheReadInputTokens: 100,
        cacheReadInputTokenCount: 100,
        cacheWriteInputTokens: 50,
        cacheWriteInputTokenCount: 50,
      }),
    ).toEqual({
      inputTokens: 160,
      outputTokens: 5,
      totalTokens: 165,
      inputDetails: { cache_read: 100, cache_creation: 50 },
    })
  })

  test('cache writes are split by their time to live', () => {
    expect(
      usageOf({
        inputTokens: 10,
        outputTokens: 5,
        cacheWriteInputTokens: 60,
        cacheDetails: [
          { ttl: '5m', inputTokens: 20 },
          { ttl: '1h', inputTokens: 30 },
        ],
      }),
    ).toEqual({
      inputTokens: 70,
      outputTokens: 5,
      totalTokens: 75,
      inputDetails: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30, cache_creation: 10 },
    })
  })
})

describe('a stream accumulates to the message of the whole response', () => {
  test('parallel calls, signed thoughts and the final counts accumulate', () => {
    const { messages } = streamed(bedrockConverse, [
      { messageStart: { role: 'assistant' } },
      delta(0, { reasoningContent: { text: 'H' } }),
      delta(0, { reasoningContent: { text: 'm' } }),
      delta(0, { reasoningContent: { signature: 's' } }),
      stop(0),
      delta(1, { text: 'Wait' }),
      start(2, { toolUse: { toolUseId: 'a', name: 'f' } }),
      start(3, { toolUse: { toolUseId: 'b', name: 'f' } }),
      delta(2, { toolUse: { input: '{"x"' } }),
      delta(3, { toolUse: { input: '{"y":' } }),
      delta(2, { toolUse: { input: ':1}' } }),
      stop(2),
      { messageStop: { stopReason: 'tool_use' } },
      { metadata: { usage: { inputTokens: 1, outputTokens: 2 }, metrics: { latencyMs: 3 } } },
    ])
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm', extras: { signature: 's' } },
          { type: 'text', text: 'Wait' },
          { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
          { type: 'invalidToolCall', id: 'b', name: 'f', args: '{"y":', error: expect.any(String) },
        ],
        finishReason: 'toolCalls',
        usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
        metadata: {
          stopReason: 'tool_use',
          usage: { inputTokens: 1, outputTokens: 2 },
          metrics: { latencyMs: 3 },
        },
      },
    ])
  })

  test('redacted thoughts, citations and results accumulate, and unknown deltas are kept', () => {
    const reader = bedrockConverse.readStream()
    const events = [
      reader.push(delta(0, { reasoningContent: { redactedContent: BYTES } })),
      reader.push(delta(1, { text: 'a' })),
      reader.push(delta(1, { citation: { title: 'T', source: 'S' } })),
      reader.push(start(2, { toolResult: { toolUseId: 'c', status: 'error', type: 'x' } })),
      reader.push(delta(2, { toolResult: [{ text: 'gone' }] })),
      reader.push(delta(3, { hologram: { deep: 1 } })),
      reader.push({ newEvent: { a: 1 } }),
      reader.end(),
    ].flat()
    expect(JSON.parse(JSON.stringify(events))).toEqual(events)
    expect(events).toMatchObject([
      { type: 'messageStart' },
      { type: 'blockStart', index: 0, block: { type: 'reasoning', extras: { redactedContent: BASE64 } } },
      { type: 'blockStart', index: 1 },
      { type: 'blockDelta', delta: { text: 'a' } },
      { type: 'blockDelta', delta: { annotation: { title: 'T', url: 'S' } } },
      {
        type: 'blockStart',
        block: { type: 'serverToolResult', toolCallId: 'c', status: 'error', extras: { type: 'x' } },
      },
      { type: 'blockStart', block: { type: 'nonStandard', value: { hologram: { deep: 1 } } } },
      { type: 'blockDelta', index: 2, delta: { fields: { output: [{ text: 'gone' }] } } },
      { type: 'messageFinish', metadata: { unknownEvents: [{ newEvent: { a: 1 } }] } },
    ])
  })

  test('an exception in the middle of a stream is an error, whether it is an object or an Error', () => {
    for (const exception of [
      { message: 'Slow down' },
      Object.assign(new Error('Slow down'), { $fault: 'client' }),
    ]) {
      const reader = bedrockConverse.readStream()
      reader.push(delta(0, { text: 'a' }))
      const chunk = { throttlingException: exception }
      expect(bedrockConverse.detect(chunk)).toBe('chunk')
      expect(reader.push(chunk)).toEqual([
        { type: 'error', message: 'Slow down', code: 'throttlingException' },
      ])
      expect(reader.end()).toMatchObject([
        { type: 'messageFinish', reason: 'error', metadata: { error: { message: 'Slow down' } } },
      ])
    }
  })
})

test('a request becomes messages, parameters and extras', () => {
  const request = {
    modelId: 'us.anthropic.claude',
    system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
    messages: [
      {
        role: 'user',
        content: [{ text: 'Hi' }, { document: { format: 'md', name: 'n', source: { bytes: BASE64 } } }],
      },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'f', input: { x: 1 } } }] },
      {
        role: 'user',
        content: [
          {
            toolResult: { toolUseId: 'a', status: 'error', content: [{ json: { why: 1 } }, { text: 'no' }] },
          },
          { text: 'Go on' },
        ],
      },
    ],
    inferenceConfig: { maxTokens: 5, temperature: 0, topP: 1, stopSequences: ['.'] },
    toolConfig: { tools: [{ toolSpec: { name: 'f' } }], toolChoice: { auto: {} } },
    additionalModelRequestFields: { thinking: { type: 'enabled' } },
  }
  expect(bedrockConverse.detect(request)).toBe('request')
  expect(bedrockConverse.readRequest(frozen(request))).toEqual({
    messages: [
      {
        role: 'system',
        content: [
          { type: 'text', text: 'Be brief.' },
          { type: 'nonStandard', value: { cachePoint: { type: 'default' } } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'file', base64: BASE64, mimeType: 'text/markdown', extras: { format: 'md', name: 'n' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } }] },
      {
        role: 'tool',
        content: [
          { type: 'text', text: '{"why":1}' },
          { type: 'text', text: 'no' },
        ],
        toolCallId: 'a',
        status: 'error',
      },
      { role: 'user', content: [{ type: 'text', text: 'Go on' }] },
    ],
    tools: [{ toolSpec: { name: 'f' } }],
    params: { model: 'us.anthropic.claude', maxTokens: 5, temperature: 0, topP: 1, stop: ['.'] },
    extras: { toolChoice: { auto: {} }, additionalModelRequestFields: { thinking: { type: 'enabled' } } },
  })
})
