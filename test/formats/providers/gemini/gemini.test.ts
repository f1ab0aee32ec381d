import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gemini } from '../../../../src/models/formats/index.ts'
import { anyCharacter } from '../../../kit/arbitraries.ts'
import { frozen, streamed, whole } from '../../helpers.ts'

const response = (parts: readonly object[], others: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
  modelVersion: 'gemini-x',
  responseId: 'r',
  ...others,
})
const chunk = (...parts: object[]) => ({
  candidates: [{ index: 0, content: { role: 'model', parts } }],
  modelVersion: 'gemini-x',
  responseId: 'r',
})
const blocksOf = (...parts: object[]) => whole(gemini, response(parts)).messages[0]!.content
const usageOf = (usageMetadata: object) => whole(gemini, response([], { usageMetadata })).messages[0]!.usage
const inputOf = (request: object) => gemini.readRequest(frozen(request)).messages

describe('a whole response becomes one message per choice', () => {
  test('reads text, thoughts, counts and metadata', () => {
    const usageMetadata = {
      promptTokenCount: 5,
      candidatesTokenCount: 2,
      thoughtsTokenCount: 3,
      totalTokenCount: 10,
    }
    expect(
      whole(
        gemini,
        response(
          [
            { text: 'Hm.', thought: true },
            { text: 'Hi', thoughtSignature: 'sig' },
          ],
          {
            usageMetadata,
            sdkHttpResponse: { headers: { date: 'today' } },
          },
        ),
      ),
    ).toEqual({
      messages: [
        {
          role: 'assistant',
          id: 'r',
          content: [
            { type: 'reasoning', text: 'Hm.' },
            { type: 'text', text: 'Hi', extras: { thoughtSignature: 'sig' } },
          ],
          finishReason: 'stop',
          usage: { inputTokens: 5, outputTokens: 5, totalTokens: 10, outputDetails: { reasoning: 3 } },
          metadata: { model: 'gemini-x', finishReason: 'STOP', usage: usageMetadata },
        },
      ],
    })
  })

  test('a call without an id gets one with its number in the response', () => {
    expect(
      blocksOf(
        { functionCall: { name: 'a', args: { x: 1 } }, thoughtSignature: 's' },
        { functionCall: { id: 'own', name: 'a', args: {} } },
        { functionCall: { name: 'b' } },
      ),
    ).toEqual([
      { type: 'toolCall', id: 'r-0-0', name: 'a', args: { x: 1 }, extras: { thoughtSignature: 's' } },
      { type: 'toolCall', id: 'own', name: 'a', args: {} },
      { type: 'toolCall', id: 'r-0-2', name: 'b', args: {} },
    ])
  })

  test('a stop with calls becomes `toolCalls`', () => {
    const { messages } = whole(gemini, response([{ functionCall: { name: 'a' } }]))
    expect(messages[0]!.finishReason).toBe('toolCalls')
  })

  test('reads code and server tools with their results', () => {
    expect(
      blocksOf(
        { executableCode: { language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
        { executableCode: { language: 'PYTHON', code: '1/0' } },
        { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: 'ZeroDivisionError' } },
        { toolCall: { id: 't', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['a'] } } },
        { toolResponse: { id: 't', toolType: 'GOOGLE_SEARCH_WEB', response: { found: 1 } } },
      ),
    ).toEqual([
      {
        type: 'serverToolCall',
        id: 'r-0-0',
        name: 'codeExecution',
        args: { language: 'PYTHON', code: 'print(1)' },
        extras: { type: 'executableCode' },
      },
      {
        type: 'serverToolResult',
        toolCallId: 'r-0-0',
        status: 'success',
        output: '1\n',
        extras: { type: 'codeExecutionResult', outcome: 'OUTCOME_OK' },
      },
      {
        type: 'serverToolCall',
        id: 'r-0-1',
        name: 'codeExecution',
        args: { language: 'PYTHON', code: '1/0' },
        extras: { type: 'executableCode' },
      },
      {
        type: 'serverToolResult',
        toolCallId: 'r-0-1',
        status: 'error',
        output: 'ZeroDivisionError',
        extras: { type: 'codeExecutionResult', outcome: 'OUTCOME_FAILED' },
      },
      {
        type: 'serverToolCall',
        id: 't',
        name: 'GOOGLE_SEARCH_WEB',
        args: { queries: ['a'] },
        extras: { type: 'toolCall' },
      },
      {
        type: 'serverToolResult',
        toolCallId: 't',
        status: 'success',
        output: { found: 1 },
        extras: { type: 'toolResponse' },
      },
    ])
  })

  test('several results of one piece of code answer the same call', () => {
    const result = (output: string) => ({ codeExecutionResult: { outcome: 'OUTCOME_OK', output } })
    expect(
      blocksOf(
        { executableCode: { code: '1' } },
        result('a'),
        result('b'),
        { executableCode: { code: '2' } },
        result('c'),
      ),
    ).toMatchObject([
      { id: 'r-0-0' },
      { toolCallId: 'r-0-0', output: 'a' },
      { toolCallId: 'r-0-0', output: 'b' },
      { id: 'r-0-1' },
      { toolCallId: 'r-0-1', output: 'c' },
    ])
  })

  test('media get their type from the MIME type', () => {
    expect(
      blocksOf(
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
        { fileData: { mimeType: 'video/mp4', fileUri: 'https://files/1' }, videoMetadata: { fps: 2 } },
        { inlineData: { mimeType: 'application/pdf', data: 'AAAA', displayName: 'a.pdf' } },
      ),
    ).toEqual([
      { type: 'image', mimeType: 'image/png', base64: 'AAAA' },
      { type: 'audio', mimeType: 'audio/wav', base64: 'AAAA' },
      { type: 'video', mimeType: 'video/mp4', url: 'https://files/1', extras: { videoMetadata: { fps: 2 } } },
      { type: 'file', mimeType: 'application/pdf', base64: 'AAAA', extras: { displayName: 'a.pdf' } },
    ])
  })

  test('citations become annotations of the last text and stay in the metadata', () => {
    const groundingMetadata = {
      webSearchQueries: ['q'],
      groundingChunks: [
        { web: { uri: 'https://a', title: 'A' } },
        { retrievedContext: { uri: 'gs://b', text: 'chunk' } },
      ],
      groundingSupports: [
        {
          segment: { startIndex: 0, endIndex: 2, text: 'Hi' },
          groundingChunkIndices: [0, 1],
          confidenceScores: [1, 0.5],
        },
      ],
    }
    const citationMetadata = {
      citationSources: [{ startIndex: 0, endIndex: 2, uri: 'https://c', license: 'mit' }],
    }
    const candidate = {
      content: { parts: [{ text: 'Hm', thought: true }, { text: 'Hi' }] },
      groundingMetadata,
      citationMetadata,
    }
    const [message] = whole(gemini, { candidates: [candidate] }).messages
    expect(message!.metadata).toEqual({ groundingMetadata, citationMetadata })
    const about = { confidenceScores: [1, 0.5], segment: { startIndex: 0, endIndex: 2 } }
    const annotations = [
      { type: 'citation', citedText: 'Hi', url: 'https://a', title: 'A', extras: { type: 'web', ...about } },
      {
        type: 'citation',
        citedText: 'Hi',
        url: 'gs://b',
        extras: { type: 'retrievedContext', ...about, text: 'chunk' },
      },
      {
        type: 'citation',
        url: 'https://c',
        extras: { type: undefined, license: 'mit', segment: { startIndex: 0, endIndex: 2 } },
      },
    ]
    expect(message!.content[1]).toEqual({ type: 'text', text: 'Hi', annotations })
    const parts = streamed(gemini, [
      chunk({ text: 'H' }),
      chunk({ text: 'i' }),
      { candidates: [{ groundingMetadata, citationMetadata, finishReason: 'STOP' }] },
    ]).messages[0]!
    expect(parts.content).toEqual([{ type: 'text', text: 'Hi', annotations }])
  })

  test('a blocked prompt finishes as `contentFilter`', () => {
    const promptFeedback = { blockReason: 'OTHER', safetyRatings: [] }
    const { messages, issues } = whole(gemini, { promptFeedback, usageMetadata: { promptTokenCount: 4 } })
    expect(messages).toMatchObject([
      { content: [], finishReason: 'contentFilter', metadata: { promptFeedback }, usage: { inputTokens: 4 } },
    ])
    expect(issues).toBeUndefined()
  })

  test('each candidate becomes a message, and the first has the usage', () => {
    const { messages } = whole(gemini, {
      candidates: [
        { index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'MAX_TOKENS' },
        { index: 0, content: { parts: [{ text: 'a' }] }, finishReason: 'SAFETY' },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
    })
    expect(messages).toMatchObject([
      { content: [{ text: 'a' }], finishReason: 'contentFilter', usage: { totalTokens: 3 } },
      { content: [{ text: 'b' }], finishReason: 'length' },
    ])
    expect(messages[1]!.usage).toBeUndefined()
  })

  test('a value that is no response is kept and gets an issue', () => {
    expect(whole(gemini, { nothing: 1 })).toEqual({
      messages: [{ role: 'assistant', content: [{ type: 'nonStandard', value: { nothing: 1 } }] }],
      issues: [{ path: '', message: 'Expected a response of gemini.' }],
    })
  })
})

describe('usage is a partition', () => {
  const audio = (tokenCount: number) => ({ modality: 'AUDIO', tokenCount })

  test.each<[string, object, object | undefined]>([
    [
      'tokens of tools are added to the prompt, and thoughts to the candidates',
      {
        promptTokenCount: 10,
        toolUsePromptTokenCount: 5,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 3,
        totalTokenCount: 25,
      },
      { inputTokens: 15, outputTokens: 10, totalTokens: 25, outputDetails: { reasoning: 3 } },
    ],
    [
      'cached tokens are taken out of the modalities',
      {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        promptTokensDetails: [audio(80), { modality: 'TEXT', tokenCount: 20 }],
        cacheTokensDetails: [audio(50), { modality: 'TEXT', tokenCount: 10 }],
        candidatesTokenCount: 9,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 9 }],
      },
      {
        inputTokens: 100,
        outputTokens: 9,
        totalTokens: 109,
        inputDetails: { cache_read: 60, audio: 30 },
        outputDetails: { image: 9 },
      },
    ],
    [
      'cached tokens without details leave out the modalities',
      { promptTokenCount: 100, cachedContentTokenCount: 60, promptTokensDetails: [audio(80)] },
      { inputTokens: 100, outputTokens: 0, totalTokens: 100, inputDetails: { cache_read: 60 } },
    ],
    [
      'counts of the Live API are read',
      { promptTokenCount: 4, responseTokenCount: 6, responseTokensDetails: [audio(6)], totalTokenCount: 10 },
      { inputTokens: 4, outputTokens: 6, totalTokens: 10, outputDetails: { audio: 6 } },
    ],
    ['a response without counts has no usage', { trafficType: 'ON_DEMAND' }, undefined],
  ])('%s', (_, usage, expected) => {
    expect(usageOf(usage)).toEqual(expected)
  })

  test('the last count of each kind replaces the earlier ones in a stream', () => {
    const { usage, metadata } = streamed(gemini, [
      { ...chunk({ text: 'a' }), usageMetadata: { trafficType: 'ON_DEMAND' } },
      { ...chunk({ text: 'b' }), usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 } },
      { ...chunk({ text: 'c' }), usageMetadata: { candidatesTokenCount: 5, thoughtsTokenCount: null } },
    ]).messages[0]!
    expect(usage).toEqual({ inputTokens: 3, outputTokens: 5, totalTokens: 8 })
    expect(metadata!.usage).toEqual({
      trafficType: 'ON_DEMAND',
      promptTokenCount: 3,
      candidatesTokenCount: 5,
    })
  })
})

describe('a stream accumulates to the message of the whole response', () => {
  test('text, thoughts and signatures keep their order, and a signature ends its block', () => {
    expect(
      streamed(gemini, [
        chunk({ text: 'Hm', thought: true }),
        chunk({ text: '.', thought: true }),
        chunk({ text: 'Hel' }),
        chunk({ text: 'lo' }),
        chunk({ text: '', thoughtSignature: 'one' }),
        chunk({ text: 'More' }, { functionCall: { name: 'a', args: {} }, thoughtSignature: 'two' }),
        chunk({ text: '' }),
      ]).messages[0]!.content,
    ).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello', extras: { thoughtSignature: 'one' } },
      { type: 'text', text: 'More' },
      { type: 'toolCall', id: 'r-0-0', name: 'a', args: {}, extras: { thoughtSignature: 'two' } },
    ])
  })

  const piece = (functionCall: object) => chunk({ functionCall })
  const arg = (jsonPath: string, value: object) => ({ jsonPath, ...value })

  test('arguments in pieces are put together', () => {
    const chunks = [
      chunk({ functionCall: { name: 'book', willContinue: true }, thoughtSignature: 's' }),
      piece({
        partialArgs: [arg('$.city', { stringValue: 'New ', willContinue: true })],
        willContinue: true,
      }),
      piece({
        partialArgs: [arg('$.city', { stringValue: 'Delhi "\n', willContinue: true })],
        willContinue: true,
      }),
      piece({ partialArgs: [arg('$.city', { stringValue: '' })], willContinue: true }),
      piece({
        partialArgs: [
          arg('$.guests[0].age', { numberValue: 4 }),
          arg('$.guests[0].vip', { boolValue: false }),
        ],
        willContinue: true,
      }),
      piece({ partialArgs: [arg('$.guests[1].age', { nullValue: 'NULL_VALUE' })], willContinue: true }),
      piece({ partialArgs: [arg("$['a key'].b", { stringValue: 'c' })], willContinue: true }),
      piece({}),
      piece({ name: 'next', args: { a: 1 } }),
    ]
    expect(streamed(gemini, chunks).messages[0]!.content).toEqual([
      {
        type: 'toolCall',
        id: 'r-0-0',
        name: 'book',
        args: { city: 'New Delhi "\n', guests: [{ age: 4, vip: false }, { age: null }], 'a key': { b: 'c' } },
        extras: { thoughtSignature: 's' },
      },
      { type: 'toolCall', id: 'r-0-1', name: 'next', args: { a: 1 } },
    ])
    expect(streamed(gemini, chunks.slice(0, 3)).messages[0]!.content).toMatchObject([
      { type: 'invalidToolCall', id: 'r-0-0', name: 'book', args: '{"city":"New Delhi \\"\\n' },
    ])
  })

  test('a call without an end stays raw, and the next part starts a new block', () => {
    const partialArgs = [arg('$.x', { stringValue: 'a', willContinue: true })]
    expect(
      streamed(gemini, [
        piece({ name: 'f', willContinue: true }),
        piece({ partialArgs, willContinue: true }),
        chunk({ text: 'Oh' }),
        piece({ name: 'g', args: { y: 1 } }),
        piece({ name: 'h', partialArgs, willContinue: true }),
      ]).messages[0]!.content,
    ).toMatchObject([
      { type: 'invalidToolCall', name: 'f', args: '{"x":"a' },
      { type: 'text', text: 'Oh' },
      { type: 'toolCall', name: 'g', args: { y: 1 } },
      { type: 'invalidToolCall', name: 'h', args: '{"x":"a' },
    ])
  })

  test('a call ends within its last piece, in a piece of its own, or in both', () => {
    const last = piece({ partialArgs: [arg('$.x', { numberValue: 1 })] })
    const start = piece({ name: 'f', willContinue: true })
    const more = piece({ partialArgs: [arg('$.x', { numberValue: 1 })], willContinue: true })
    const pause = piece({ willContinue: true })
    for (const chunks of [
      [start, last],
      [start, more, pause, piece({})],
      [start, last, piece({})],
    ])
      expect(streamed(gemini, [...chunks, chunk({ text: '' })]).messages[0]!.content).toEqual([
        { type: 'toolCall', id: 'r-0-0', name: 'f', args: { x: 1 } },
      ])
  })

  test('any arguments are restored from their pieces', () => {
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: anyCharacter, maxLength: 6 }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
        fc.dictionary(fc.stringMatching(/^\w+( \w+)?$/), tie('value'), { minKeys: 1, maxKeys: 3 }),
      ),
    })).value
    const leaves = (item: unknown, path: string): object[] => {
      if (typeof item === 'string') {
        const half = Math.ceil(item.length / 2)
        return [
          arg(path, { stringValue: item.slice(0, half), willContinue: true }),
          arg(path, { stringValue: item.slice(half) }),
        ]
      }
      if (item === null) return [arg(path, { nullValue: 'NULL_VALUE' })]
      if (typeof item !== 'object')
        return [arg(path, typeof item === 'number' ? { numberValue: item } : { boolValue: item })]
      return Object.entries(item).flatMap(([key, inner]) =>
        leaves(
          inner,
          Array.isArray(item) ? `${path}[${key}]` : /\s/.test(key) ? `${path}["${key}"]` : `${path}.${key}`,
        ),
      )
    }
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]+$/), value, { maxKeys: 3 }), (args) => {
        const chunks = leaves(args, '$').map((one) => piece({ partialArgs: [one], willContinue: true }))
        const [block] = streamed(gemini, [piece({ name: 'f', willContinue: true }), ...chunks, piece({})])
          .messages[0]!.content
        expect(block).toEqual({ type: 'toolCall', id: 'r-0-0', name: 'f', args })
      }),
      { numRuns: 100 },
    )
  })

  test('an error in the middle of a stream keeps the text before it', () => {
    const error = { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' }
    const { messages, error: read } = streamed(gemini, [chunk({ text: 'a' }), { error }])
    expect(read).toEqual({ type: 'error', message: 'Overloaded', code: '503' })
    expect(messages[0]).toMatchObject({
      content: [{ text: 'a' }],
      finishReason: 'error',
      metadata: { error },
    })
  })
})

test('messages of the Live API accumulate to one message', () => {
  const turn = (...parts: object[]) => ({ serverContent: { modelTurn: { parts } } })
  const audio = (data: string) => ({ inlineData: { mimeType: 'audio/pcm', data } })
  const messages = [
    turn({ text: 'Hm', thought: true }),
    turn(audio('YQ==')),
    { serverContent: { outputTranscription: { text: 'Hel' } } },
    turn(audio('YmM=')),
    { serverContent: { outputTranscription: { text: 'lo' } } },
    { toolCall: { functionCalls: [{ id: 'c', name: 'look', args: { at: 'it' } }] } },
    { toolCallCancellation: { ids: ['x'] } },
    {
      serverContent: { turnComplete: true },
      usageMetadata: { promptTokenCount: 1, responseTokenCount: 2, totalTokenCount: 3 },
    },
  ]
  for (const message of messages.filter((message) => !('toolCallCancellation' in message)))
    expect(gemini.detect(message)).toBe('chunk')
  expect(streamed(gemini, messages).messages).toMatchObject([
    {
      content: [
        { type: 'reasoning', text: 'Hm' },
        { type: 'audio', base64: 'YWJj', mimeType: 'audio/pcm', extras: { transcript: 'Hello' } },
        { type: 'toolCall', id: 'c', name: 'look', args: { at: 'it' } },
      ],
      finishReason: 'toolCalls',
      usage: { inputTokens: 1, outputTokens: 2 },
      metadata: { toolCallCancellation: { ids: ['x'] } },
    },
  ])
  expect(
    streamed(gemini, [turn({ text: 'a' }), { serverContent: { interrupted: true } }]).messages[0],
  ).toMatchObject({
    finishReason: 'pause',
  })
})

describe('a request is read in every spelling of the SDK and the API', () => {
  test('a request of the SDK is read with its config', () => {
    const tools = [{ functionDeclarations: [] }]
    expect(
      gemini.readRequest({
        model: 'gemini-x',
        contents: 'Hi',
        config: {
          systemInstruction: 'Be brief.',
          temperature: 0,
          maxOutputTokens: 9,
          candidateCount: 2,
          stopSequences: ['.'],
          topK: 3,
          thinkingConfig: { includeThoughts: true },
          tools,
        },
      }),
    ).toEqual({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      ],
      tools,
      params: { model: 'gemini-x', temperature: 0, maxTokens: 9, choiceCount: 2, stop: ['.'], topK: 3 },
      extras: { thinkingConfig: { includeThoughts: true } },
    })
  })

  test('a request of the API is read in either spelling, and results of calls become messages', () => {
    const spellings = [
      {
        systemInstruction: { parts: [{ text: 'S' }] },
        contents: [
          {
            role: 'user',
            parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
          },
          {
            role: 'model',
            parts: [{ functionCall: { name: 'f', args: { a_b: 1 } } }, { functionCall: { name: 'g' } }],
          },
          {
            role: 'user',
            parts: [
              { functionResponse: { name: 'g', response: { error: 'No.' } } },
              { functionResponse: { name: 'f', response: { a: 1 } } },
              { text: 'And?' },
            ],
          },
        ],
        generationConfig: { temperature: 1 },
      },
      {
        system_instruction: { parts: [{ text: 'S' }] },
        contents: [
          {
            role: 'user',
            parts: [{ text: 'Look' }, { inline_data: { mime_type: 'image/png', data: 'AAAA' } }],
          },
          {
            role: 'model',
            parts: [{ function_call: { name: 'f', args: { a_b: 1 } } }, { function_call: { name: 'g' } }],
          },
          {
            role: 'function',
            parts: [
              { function_response: { name: 'g', response: { error: 'No.' } } },
              { function_response: { name: 'f', response: { a: 1 } } },
            ],
          },
          { role: 'user', parts: [{ text: 'And?' }] },
        ],
        generation_config: { temperature: 1 },
      },
    ]
    for (const request of spellings)
      expect(gemini.readRequest(frozen(request))).toEqual({
        messages: [
          { role: 'system', content: [{ type: 'text', text: 'S' }] },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look' },
              { type: 'image', mimeType: 'image/png', base64: 'AAAA' },
            ],
          },
          {
            role: 'assistant',
            content: [
              { type: 'toolCall', id: 'call-0', name: 'f', args: { a_b: 1 } },
              { type: 'toolCall', id: 'call-1', name: 'g', args: {} },
            ],
          },
          {
            role: 'tool',
            name: 'g',
            content: [{ type: 'text', text: 'No.' }],
            toolCallId: 'call-1',
            status: 'error',
          },
          {
            role: 'tool',
            name: 'f',
            content: [{ type: 'text', text: '{"a":1}' }],
            toolCallId: 'call-0',
            status: 'success',
          },
          { role: 'user', content: [{ type: 'text', text: 'And?' }] },
        ],
        params: { temperature: 1 },
        extras: {},
      })
  })

  test('contents may be a text, a part, a content or a list', () => {
    const hi = { role: 'user', content: [{ type: 'text', text: 'Hi' }] }
    for (const contents of [
      'Hi',
      ['Hi'],
      { text: 'Hi' },
      [{ text: 'Hi' }],
      { role: 'user', parts: [{ text: 'Hi' }] },
    ])
      expect(inputOf({ contents })).toEqual([hi])
    expect(inputOf({ contents: [{ role: 'model', parts: [{ hologram: 1 }] }] })).toEqual([
      { role: 'assistant', content: [{ type: 'nonStandard', value: { hologram: 1 } }] },
    ])
    expect(gemini.readRequest({ model: 'm' }).issues).toEqual([
      { path: 'contents', message: 'Expected a list.' },
    ])
  })

  test('a result keeps its id, its whole response and its parts', () => {
    const functionResponse = {
      id: 'own',
      name: 'f',
      response: { output: 'x', more: 1 },
      parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
      scheduling: 'SILENT',
    }
    expect(inputOf({ contents: [{ role: 'user', parts: [{ functionResponse }] }] })).toEqual([
      {
        role: 'tool',
        name: 'f',
        content: [
          { type: 'text', text: '{"output":"x","more":1}' },
          { type: 'image', mimeType: 'image/png', base64: 'AAAA' },
        ],
        toolCallId: 'own',
        status: 'success',
        extras: { scheduling: 'SILENT' },
      },
    ])
  })
})
