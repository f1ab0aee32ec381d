import { expect, test } from 'vitest'
import type { ContentBlock } from '../../../../src/messages/index.ts'
import { vercel, vercelTarget } from '../../../../src/models/formats/index.ts'
import { aiSdk } from '../../../../src/models/formats/models.ts'
import { readUsage } from '../../../../src/models/formats/providers/vercel/usage.ts'
import { eventsOf, frozen, streamed, whole } from '../../helpers.ts'

const read = (response: object) => whole(vercel, { finishReason: 'stop', ...response }).messages[0]!
const contentOf = (...content: unknown[]) => read({ content }).content

test.each<[string, unknown, unknown, object]>([
  [
    'language models V3 and V4, with nested totals',
    {
      inputTokens: { total: 110, noCache: 10, cacheRead: 80, cacheWrite: 20 },
      outputTokens: { total: 7, text: 3, reasoning: 4 },
    },
    { anthropic: { cacheCreationInputTokens: 20 } },
    {
      inputTokens: 110,
      outputTokens: 7,
      inputDetails: { cache_read: 80, cache_creation: 20 },
      outputDetails: { reasoning: 4 },
    },
  ],
  [
    'AI SDK 6 and 7, with inclusive totals and deprecated names',
    {
      inputTokens: 110,
      inputTokenDetails: { noCacheTokens: 10, cacheReadTokens: 80, cacheWriteTokens: 20 },
      outputTokens: 7,
      outputTokenDetails: { textTokens: 3, reasoningTokens: 4 },
      totalTokens: 117,
      reasoningTokens: 4,
      cachedInputTokens: 80,
      raw: { cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 } },
    },
    { anthropic: {} },
    {
      inputTokens: 110,
      outputTokens: 7,
      inputDetails: { cache_read: 80, ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
      outputDetails: { reasoning: 4 },
    },
  ],
  [
    'AI SDK 5 with Anthropic, whose totals leave out cached tokens',
    { inputTokens: 10, outputTokens: 7, totalTokens: 17, cachedInputTokens: 100 },
    { anthropic: { cacheCreationInputTokens: 20, usage: {} } },
    { inputTokens: 130, outputTokens: 7, inputDetails: { cache_read: 100, cache_creation: 20 } },
  ],
  [
    'AI SDK 5 with Bedrock, whose totals leave out cached tokens',
    { inputTokens: 10, outputTokens: 7, totalTokens: 17, cachedInputTokens: 100 },
    { bedrock: { usage: { cacheWriteInputTokens: 20 } } },
    { inputTokens: 130, outputTokens: 7, inputDetails: { cache_read: 100, cache_creation: 20 } },
  ],
  [
    'AI SDK 5 with Google, whose output leaves out the thoughts',
    { inputTokens: 10, outputTokens: 7, totalTokens: 47, reasoningTokens: 30, cachedInputTokens: 4 },
    { google: {} },
    { inputTokens: 10, outputTokens: 37, inputDetails: { cache_read: 4 }, outputDetails: { reasoning: 30 } },
  ],
  [
    'AI SDK 5 with OpenAI, whose totals are inclusive',
    { inputTokens: 10, outputTokens: 7, totalTokens: 17, reasoningTokens: 3, cachedInputTokens: 4 },
    { openai: { responseId: 'r' } },
    { inputTokens: 10, outputTokens: 7, inputDetails: { cache_read: 4 }, outputDetails: { reasoning: 3 } },
  ],
  [
    'AI SDK 4',
    { promptTokens: 10, completionTokens: 7, totalTokens: 17 },
    { openai: { cachedPromptTokens: 4, reasoningTokens: 3 } },
    { inputTokens: 10, outputTokens: 7, inputDetails: { cache_read: 4 }, outputDetails: { reasoning: 3 } },
  ],
  [
    'AI SDK 4 without counts',
    { promptTokens: Number.NaN, completionTokens: Number.NaN },
    undefined,
    { inputTokens: 0, outputTokens: 0 },
  ],
  [
    'AI SDK 5 with OpenRouter, which sends the cost',
    { inputTokens: 10, outputTokens: 7, totalTokens: 17 },
    { openrouter: { usage: { cost: 0.25 } } },
    { inputTokens: 10, outputTokens: 7, totalCost: 0.25 },
  ],
  [
    'AI SDK 6 with xAI, which sends the cost in ticks',
    { inputTokens: 10, outputTokens: 7, raw: { cost_in_usd_ticks: 5e9 } },
    { xai: {} },
    { inputTokens: 10, outputTokens: 7, totalCost: 0.5 },
  ],
])('usage of %s is a partition', (_, usage, providerMetadata, { ...expected }) => {
  const counted = readUsage(frozen(usage), frozen(providerMetadata))!
  expect(counted).toEqual({ ...expected, totalTokens: counted.inputTokens + counted.outputTokens })
})

test('a response without counts has no usage', () => {
  expect(
    readUsage({ inputTokens: undefined, outputTokens: undefined, totalTokens: undefined }, {}),
  ).toBeUndefined()
  expect(readUsage({ inputTokens: { total: undefined }, outputTokens: {} }, {})).toBeUndefined()
  expect(readUsage(undefined, undefined)).toBeUndefined()
})

test('steps become one message, and their usage adds up by the rules of each provider', () => {
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 100 }
  const step = (content: unknown[], finishReason: string, id: string) => ({
    content,
    finishReason,
    usage,
    providerMetadata: { anthropic: { cacheCreationInputTokens: 20 } },
    response: {
      id,
      modelId: 'claude',
      timestamp: new Date(0),
      headers: { 'set-cookie': 'secret' },
      body: {},
    },
    warnings: [],
    request: { body: '{}' },
  })
  const call = { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: { x: 1 } }
  const result = { type: 'tool-result', toolCallId: 'a', toolName: 'f', input: { x: 1 }, output: 'one' }
  const { messages } = whole(vercel, {
    steps: [step([call, result], 'tool-calls', 'r1'), step([{ type: 'text', text: 'Done' }], 'stop', 'r2')],
    totalUsage: { ...usage, inputTokens: 20, outputTokens: 10, totalTokens: 30, cachedInputTokens: 200 },
    finishReason: 'stop',
  })
  expect(messages).toHaveLength(1)
  expect(messages[0]).toMatchObject({
    content: [
      { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
      { type: 'serverToolResult', toolCallId: 'a', status: 'success', output: 'one' },
      { type: 'text', text: 'Done' },
    ],
    usage: { inputTokens: 260, outputTokens: 10, inputDetails: { cache_read: 200, cache_creation: 40 } },
    metadata: { model: 'claude', id: 'r2', finishReason: 'stop', timestamp: '1970-01-01T00:00:00.000Z' },
  })
  expect(messages[0]!.metadata!.steps).toMatchObject([{ id: 'r1' }, { id: 'r2' }])
  expect(JSON.stringify(messages)).not.toContain('secret')
})

test.each<[unknown, string]>([
  ['tool-calls', 'toolCalls'],
  [{ unified: 'length', raw: 'max_tokens' }, 'length'],
  [{ unified: 'other', raw: 'pause_turn' }, 'pause'],
  [{ unified: 'content-filter', raw: undefined }, 'contentFilter'],
  ['interrupted', 'pause'],
  ['unknown', 'other'],
])('finish reason %j becomes %s', (finishReason, expected) => {
  expect(read({ content: [], finishReason }).finishReason).toBe(expected)
})

test('files are read from data, bytes, URLs, tagged data of V4 and objects of the SDK', () => {
  const mediaType = 'image/png'
  const image: ContentBlock = { type: 'image', base64: 'AQID', mimeType: mediaType }
  class GeneratedFile {
    readonly mediaType = mediaType
    get base64() {
      return 'AQID'
    }
  }
  expect(
    contentOf(
      { type: 'file', mediaType, data: 'AQID' },
      { type: 'file', mediaType, data: { type: 'data', data: 'AQID' } },
      { type: 'file', file: { base64Data: 'AQID', mediaType } },
    ),
  ).toEqual([image, image, image])
  const bytes = new Uint8Array([1, 2, 3])
  const content = [
    { type: 'file', mediaType, data: bytes },
    { type: 'file', mediaType, data: bytes.buffer },
    { type: 'file', file: new GeneratedFile() },
    { type: 'image', image: bytes, mediaType },
  ]
  expect(vercel.readResponse({ finishReason: 'stop', content }).messages[0]!.content).toEqual([
    image,
    image,
    image,
    image,
  ])
  expect(
    contentOf(
      { type: 'file', mediaType: 'application/pdf', data: 'https://a.example/1.pdf', filename: '1.pdf' },
      { type: 'file', mediaType, data: new URL('https://a.example/1.png') },
      { type: 'file', mediaType: 'audio/wav', data: { type: 'url', url: 'https://a.example/1.wav' } },
      { type: 'image', image: 'data:image/webp;base64,UklG' },
      { type: 'reasoning-file', mediaType, data: 'AQID' },
      { type: 'file', mediaType, data: { type: 'reference', reference: { openai: 'file_1' } } },
    ),
  ).toEqual([
    {
      type: 'file',
      url: 'https://a.example/1.pdf',
      mimeType: 'application/pdf',
      extras: { filename: '1.pdf' },
    },
    { type: 'image', url: 'https://a.example/1.png', mimeType: mediaType },
    { type: 'audio', url: 'https://a.example/1.wav', mimeType: 'audio/wav' },
    { type: 'image', base64: 'UklG', mimeType: 'image/webp' },
    { ...image, extras: { type: 'reasoning-file' } },
    {
      type: 'image',
      mimeType: mediaType,
      extras: { data: { type: 'reference', reference: { openai: 'file_1' } } },
    },
  ])
})

test('sources and citations become annotations', () => {
  const source = { type: 'source', sourceType: 'url', id: 's', url: 'https://a.example', title: 'A' }
  expect(
    contentOf(source, {
      type: 'text',
      text: 'So',
      citations: [{ source, startIndex: 0, endIndex: 2, citedText: 'c' }],
    }),
  ).toEqual([
    {
      type: 'text',
      text: '',
      annotations: [
        {
          type: 'citation',
          url: 'https://a.example',
          title: 'A',
          extras: { type: 'source', sourceType: 'url', id: 's' },
        },
      ],
    },
    {
      type: 'text',
      text: 'So',
      annotations: [
        {
          type: 'citation',
          url: 'https://a.example',
          title: 'A',
          startIndex: 0,
          endIndex: 2,
          citedText: 'c',
          extras: { type: undefined, sourceType: 'url', id: 's' },
        },
      ],
    },
  ])
})

test('provider tools, failed tools and invalid calls are read', () => {
  expect(
    contentOf(
      {
        type: 'tool-call',
        toolCallId: 'a',
        toolName: 'web_search',
        input: '{"q":1}',
        providerExecuted: true,
      },
      { type: 'tool-result', toolCallId: 'a', toolName: 'web_search', result: [], isError: true },
      {
        type: 'tool-call',
        toolCallId: 'b',
        toolName: 'f',
        input: { x: 1 },
        invalid: true,
        error: new TypeError('No'),
      },
      { type: 'tool-error', toolCallId: 'b', toolName: 'f', input: { x: 1 }, error: new TypeError('No') },
      { type: 'tool-output-denied', toolCallId: 'c', toolName: 'f' },
      { type: 'tool-approval-request', approvalId: 'd', toolCallId: 'e' },
    ),
  ).toEqual([
    {
      type: 'serverToolCall',
      id: 'a',
      name: 'web_search',
      args: { q: 1 },
      extras: { providerExecuted: true },
    },
    {
      type: 'serverToolResult',
      toolCallId: 'a',
      status: 'error',
      output: [],
      extras: { toolName: 'web_search' },
    },
    {
      type: 'toolCall',
      id: 'b',
      name: 'f',
      args: { x: 1 },
      extras: { invalid: true, error: { name: 'TypeError', message: 'No' } },
    },
    {
      type: 'serverToolResult',
      toolCallId: 'b',
      status: 'error',
      output: { name: 'TypeError', message: 'No' },
      extras: { toolName: 'f' },
    },
    {
      type: 'serverToolResult',
      toolCallId: 'c',
      status: 'error',
      extras: { type: 'tool-output-denied', toolName: 'f' },
    },
    { type: 'nonStandard', value: { type: 'tool-approval-request', approvalId: 'd', toolCallId: 'e' } },
  ])
})

test('a stream that is cut off keeps the raw arguments', () => {
  const { messages } = streamed(vercel, [
    { type: 'tool-input-start', id: 'a', toolName: 'f' },
    { type: 'tool-input-delta', id: 'a', delta: '{"x":' },
  ])
  expect(messages[0]!.content).toMatchObject([{ type: 'invalidToolCall', id: 'a', name: 'f', args: '{"x":' }])
})

test('parallel calls are told apart with text between their pieces', () => {
  const { messages } = streamed(vercel, [
    { type: 'tool-input-start', id: 'a', toolName: 'f' },
    { type: 'tool-input-start', id: 'b', toolName: 'g' },
    { type: 'text-start', id: '0' },
    { type: 'tool-input-delta', id: 'b', delta: '{"y"' },
    { type: 'tool-input-delta', id: 'a', delta: '{"x":1}' },
    { type: 'text-delta', id: '0', text: 'Hm' },
    { type: 'tool-input-delta', id: 'b', delta: ':2}' },
  ])
  expect(messages[0]!.content).toEqual([
    { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
    { type: 'toolCall', id: 'b', name: 'g', args: { y: 2 } },
    { type: 'text', text: 'Hm' },
  ])
})

test('the final result replaces a preliminary one', () => {
  const result = { type: 'tool-result', toolCallId: 'a', toolName: 'f', input: {} }
  const preliminary = [
    { ...result, output: { at: 1 }, preliminary: true },
    { ...result, output: { at: 2 }, preliminary: true },
  ]
  const [cut] = streamed(vercel, preliminary).messages
  expect(cut!.content).toMatchObject([{ type: 'serverToolResult', output: { at: 1 } }])
  const [done] = streamed(vercel, [...preliminary, { ...result, output: { done: true } }]).messages
  expect(done!.content).toEqual([
    {
      type: 'serverToolResult',
      toolCallId: 'a',
      status: 'success',
      output: { done: true },
      extras: { toolName: 'f' },
    },
  ])
})

test('an error or an abort in the middle of a stream keeps the text before it', () => {
  const error = Object.assign(new Error('Overloaded'), {
    statusCode: 529,
    responseHeaders: { 'x-key': 'secret' },
  })
  const failed = streamed(vercel, [
    { type: 'text-delta', id: '0', text: 'So' },
    { type: 'error', error },
  ])
  expect(failed.error).toEqual({ type: 'error', message: 'Overloaded', code: '529' })
  expect(failed.messages[0]).toMatchObject({ content: [{ text: 'So' }], finishReason: 'error' })
  expect(JSON.stringify(failed)).not.toContain('secret')
  const aborted = streamed(vercel, [
    { type: 'text-delta', id: '0', text: 'So' },
    { type: 'abort', reason: 'user' },
  ])
  expect(aborted.messages[0]).toMatchObject({
    content: [{ text: 'So' }],
    finishReason: 'other',
    metadata: { abortReason: 'user' },
  })
})

test('the first event of a stream has the id of the response', () => {
  const [first] = eventsOf(vercel, [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'r', modelId: 'm' },
    { type: 'text-delta', id: '0', delta: 'a' },
  ])
  expect(first).toEqual({ type: 'messageStart', id: 'r', metadata: { model: 'm' } })
})

test('results and streams of AI SDK 4 are read', () => {
  const content = [
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: 'So' },
    { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
  ]
  expect(
    read({
      text: 'So',
      reasoning: 'Hm',
      toolCalls: [{ type: 'tool-call', toolCallId: 'a', toolName: 'f', args: { x: 1 } }],
      usage: { promptTokens: 1, completionTokens: 2 },
    }),
  ).toMatchObject({ content, usage: { inputTokens: 1, outputTokens: 2 } })
  const { messages } = streamed(vercel, [
    { type: 'reasoning', textDelta: 'H' },
    { type: 'reasoning', textDelta: 'm' },
    { type: 'text-delta', textDelta: 'So' },
    { type: 'tool-call-streaming-start', toolCallId: 'a', toolName: 'f' },
    { type: 'tool-call-delta', toolCallId: 'a', toolName: 'f', argsTextDelta: '{"x":1}' },
    { type: 'tool-call', toolCallId: 'a', toolName: 'f', args: { x: 1 } },
    { type: 'step-finish', finishReason: 'tool-calls', usage: { promptTokens: 1, completionTokens: 2 } },
    { type: 'finish', finishReason: 'tool-calls', usage: { promptTokens: 1, completionTokens: 2 } },
  ])
  expect(messages).toMatchObject([{ content, usage: { inputTokens: 1, outputTokens: 2 } }])
})

test('signatures and redacted thoughts of AI SDK 4 are kept, whole and streamed, and written back', () => {
  const content = [
    { type: 'reasoning', text: 'Hm', extras: { signature: 's1' } },
    { type: 'reasoning', text: '', extras: { type: 'redacted-reasoning', data: 'enc' } },
    { type: 'reasoning', text: 'Oh', extras: { signature: 's2' } },
    { type: 'text', text: 'So' },
  ]
  const details = [
    { type: 'text', text: 'Hm', signature: 's1' },
    { type: 'redacted', data: 'enc' },
    { type: 'text', text: 'Oh', signature: 's2' },
  ]
  // A result has both fields, and the result of a language model has the list as `reasoning`.
  expect(read({ text: 'So', reasoning: 'HmOh', reasoningDetails: details }).content).toEqual(content)
  expect(read({ text: 'So', reasoning: details }).content).toEqual(content)
  const chunks = [
    { type: 'reasoning', textDelta: 'H' },
    { type: 'reasoning', textDelta: 'm' },
    { type: 'reasoning-signature', signature: 's1' },
    { type: 'redacted-reasoning', data: 'enc' },
    { type: 'reasoning', textDelta: 'Oh' },
    { type: 'reasoning-signature', signature: 's2' },
    { type: 'text-delta', textDelta: 'So' },
  ]
  for (const chunk of chunks) expect(vercel.detect(chunk)).toBe('chunk')
  const { messages } = streamed(vercel, chunks)
  expect(messages[0]!.content).toEqual(content)
  const parts = [
    { type: 'reasoning', text: 'Hm', signature: 's1' },
    { type: 'redacted-reasoning', data: 'enc' },
    { type: 'reasoning', text: 'Oh', signature: 's2' },
    { type: 'text', text: 'So' },
  ]
  expect(vercelTarget.writeInputs(messages)).toEqual({ messages: [{ role: 'assistant', content: parts }] })
  // Versions 6 and 7 take proofs as options.
  const anthropic = (options: object) => ({ type: 'reasoning', providerOptions: { anthropic: options } })
  expect(aiSdk.writeRequest(messages).messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Hello.' }] },
    {
      role: 'assistant',
      content: [
        { ...anthropic({ signature: 's1' }), text: 'Hm' },
        { ...anthropic({ redactedData: 'enc' }), text: '' },
        { ...anthropic({ signature: 's2' }), text: 'Oh' },
        { type: 'text', text: 'So' },
      ],
    },
  ])
  expect(
    vercel.readRequest({ messages: [{ role: 'assistant', content: parts }] }).messages[0]!.content,
  ).toEqual(content)
})

const PROMPT = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'See', providerOptions: { anthropic: { cacheControl: {} } } },
      { type: 'file', mediaType: 'image/png', data: 'AQID' },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: { x: 1 } },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: 'a', toolName: 'f', output: { type: 'json', value: { y: [1] } } },
      { type: 'tool-result', toolCallId: 'b', toolName: 'f', output: { type: 'error-text', value: 'No' } },
      {
        type: 'tool-result',
        toolCallId: 'c',
        toolName: 'f',
        output: { type: 'execution-denied', reason: 'Mine' },
      },
      {
        type: 'tool-result',
        toolCallId: 'd',
        toolName: 'f',
        output: {
          type: 'content',
          value: [
            { type: 'text', text: 'See' },
            { type: 'file', data: 'AQID', mediaType: 'image/png' },
          ],
        },
      },
      { type: 'tool-approval-response', approvalId: 'e', approved: true },
    ],
  },
]

test('the prompt of a language model is read', () => {
  const { messages, params, issues } = vercel.readRequest(
    frozen({ prompt: PROMPT, maxOutputTokens: 9, stopSequences: ['.'], temperature: 0, topP: 1, seed: 4 }),
  )
  expect(issues).toBeUndefined()
  expect(params).toEqual({ maxTokens: 9, stop: ['.'], temperature: 0, topP: 1, seed: 4 })
  expect(messages.slice(3)).toEqual([
    {
      role: 'tool',
      name: 'f',
      toolCallId: 'a',
      status: 'success',
      content: [{ type: 'text', text: '{"y":[1]}' }],
      extras: { type: 'json' },
    },
    { role: 'tool', name: 'f', toolCallId: 'b', status: 'error', content: [{ type: 'text', text: 'No' }] },
    {
      role: 'tool',
      name: 'f',
      toolCallId: 'c',
      status: 'error',
      content: [{ type: 'text', text: 'Mine' }],
      extras: { type: 'execution-denied' },
    },
    {
      role: 'tool',
      name: 'f',
      toolCallId: 'd',
      status: 'success',
      content: [
        { type: 'text', text: 'See' },
        { type: 'image', base64: 'AQID', mimeType: 'image/png' },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'nonStandard', value: { type: 'tool-approval-response', approvalId: 'e', approved: true } },
      ],
    },
  ])
})

test('a trace has the prompt, with one result per message', () => {
  const { messages } = vercel.readRequest(frozen({ prompt: PROMPT }))
  const [system, user, assistant, tool] = PROMPT
  const [json, failed, denied, content, approval] = tool!.content as object[]
  expect(vercelTarget.writeInputs(frozen(messages))).toEqual({
    messages: [
      system,
      user,
      assistant,
      ...[json, failed, denied, content].map((result) => ({ role: 'tool', content: [result] })),
      { role: 'user', content: [approval] },
    ],
  })
})

test('the prompt is written back for the AI SDK, with the results of an answer in one message', () => {
  const [system, user, answer, tool] = PROMPT
  const calls = ['b', 'c', 'd'].map((toolCallId) => ({
    type: 'tool-call',
    toolCallId,
    toolName: 'f',
    input: {},
  }))
  const assistant = { ...answer, content: [...(answer!.content as object[]), ...calls] }
  const { messages } = vercel.readRequest(frozen({ prompt: [system, user, assistant, tool] }))
  const [json, failed, denied, content] = tool!.content as object[]
  const picture = { type: 'image-data', data: 'AQID', mediaType: 'image/png' }
  expect(aiSdk.writeRequest(frozen(messages))).toEqual({
    messages: [
      system,
      user,
      assistant,
      {
        role: 'tool',
        content: [
          json,
          failed,
          denied,
          { ...content, output: { type: 'content', value: [{ type: 'text', text: 'See' }, picture] } },
        ],
      },
    ],
  })
})

test('tool outputs of older versions are read', () => {
  const output = (output: unknown) =>
    vercel.readRequest({
      messages: [
        { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', ...(output as object) }] },
      ],
    }).messages[0]
  expect(output({ result: { y: 1 }, isError: true })).toMatchObject({
    status: 'error',
    content: [{ type: 'text', text: '{"y":1}' }],
  })
  expect(
    output({
      output: {
        type: 'content',
        value: [
          { type: 'media', data: 'AQID', mediaType: 'audio/wav' },
          { type: 'image-url', url: 'https://a.example/1' },
          { type: 'custom' },
        ],
      },
    })!.content,
  ).toEqual([
    { type: 'audio', base64: 'AQID', mimeType: 'audio/wav' },
    { type: 'image', url: 'https://a.example/1' },
    { type: 'nonStandard', value: { type: 'custom' } },
  ])
})

test('the options of generateText become messages, parameters and extras', () => {
  const { messages, tools, params, extras } = vercel.readRequest({
    model: { specificationVersion: 'v3', provider: 'anthropic.messages', modelId: 'claude', doGenerate() {} },
    system: 'Be brief.',
    prompt: 'Hi',
    tools: {
      f: { description: 'Adds', inputSchema: { jsonSchema: { type: 'object' } }, execute() {} },
      g: { inputSchema: { '~standard': {} } },
    },
    onFinish() {},
    abortSignal: new AbortController().signal,
    maxRetries: 1,
  })
  expect(messages).toEqual([
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  ])
  expect(tools).toEqual([{ name: 'f', description: 'Adds', inputSchema: { type: 'object' } }, { name: 'g' }])
  expect(params).toEqual({ model: 'claude' })
  expect(extras).toEqual({ provider: 'anthropic.messages', maxRetries: 1 })
})

test('detecting a streaming result does not start the stream', () => {
  const result = {
    fullStream: [],
    get content(): never {
      throw new Error('started')
    },
  }
  expect(vercel.detect(result)).toBeUndefined()
})
