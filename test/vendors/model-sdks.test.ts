import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import { expect, onTestFinished, test } from 'vitest'
import { bedrockConverse, bedrockInvoke, gemini } from '../../src/models/formats/index.ts'
import { eventFrame } from '../formats/event-frame.ts'
import { accumulated, streamed, viaJson, whole } from '../formats/helpers.ts'
import { createReplay } from '../formats/recorded.ts'

/** The SDKs return instances of classes, bytes and errors, which are read as they are. */

const listening = async (server: ReturnType<typeof createServer> | ReturnType<typeof createHttp2Server>) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const geminiAt = async (listener: RequestListener) =>
  new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: await listening(createServer(listener)) } })

/** A client of Bedrock that gets this body. Its server speaks HTTP/2, because the SDK does. */
async function bedrockThat(contentType: string, body: Uint8Array | string) {
  const server = createHttp2Server((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': contentType }).end(body)
  })
  const client = new BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: await listening(server),
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  })
  onTestFinished(() => client.destroy())
  return client
}

const events = (...list: [type: string, payload: object][]) =>
  Buffer.concat(list.map(([type, payload]) => eventFrame(type, JSON.stringify(payload))))

async function readAll(format: typeof gemini, chunks: AsyncIterable<unknown>) {
  const reader = format.readStream()
  const read = []
  for await (const chunk of chunks) {
    expect(format.detect(chunk)).toMatch(/^(chunk|response)$/)
    read.push(...reader.push(chunk))
  }
  read.push(...reader.end())
  expect(viaJson(read)).toEqual(read)
  return read
}

const ANSWER = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'Hm', thought: true },
          { functionCall: { name: 'look', args: { at: 'it' } }, thoughtSignature: 'c2ln' },
        ],
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, thoughtsTokenCount: 5, totalTokenCount: 12 },
  modelVersion: 'gemini-x',
  responseId: 'r',
}

test('@google/genai returns a whole response that is read', async () => {
  const ai = await geminiAt((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ANSWER))
  })
  const request = { model: 'gemini-x', contents: 'Hi', config: { systemInstruction: 'S', temperature: 0 } }
  const response = await ai.models.generateContent(request)
  expect(gemini.detect(response)).toBe('response')
  const read = gemini.readResponse(response)
  expect(viaJson(read)).toEqual(read)
  expect(read).toEqual({
    messages: [
      {
        role: 'assistant',
        id: 'r',
        content: [
          { type: 'reasoning', text: 'Hm' },
          {
            type: 'toolCall',
            id: 'r-0-0',
            name: 'look',
            args: { at: 'it' },
            extras: { thoughtSignature: 'c2ln' },
          },
        ],
        finishReason: 'toolCalls',
        usage: { inputTokens: 3, outputTokens: 9, totalTokens: 12, outputDetails: { reasoning: 5 } },
        metadata: { model: 'gemini-x', finishReason: 'STOP', usage: ANSWER.usageMetadata },
      },
    ],
  })
  expect(gemini.readRequest(request)).toMatchObject({
    messages: [{ role: 'system' }, { role: 'user', content: [{ text: 'Hi' }] }],
    params: { model: 'gemini-x', temperature: 0 },
  })
})

test('@google/genai returns a stream that is read', async () => {
  const part = (...parts: object[]) => ({ candidates: [{ content: { role: 'model', parts }, index: 0 }] })
  const ai = await geminiAt((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of [part({ text: 'Hel' }), part({ text: 'lo' }), ANSWER])
      response.write(`data: ${JSON.stringify({ responseId: 'r', ...chunk })}\r\n\r\n`)
    response.end()
  })
  const stream = await ai.models.generateContentStream({ model: 'gemini-x', contents: 'Hi' })
  expect(await readAll(gemini, stream)).toMatchObject([
    { type: 'messageStart', id: 'r' },
    { type: 'blockStart', index: 0 },
    { type: 'blockDelta', delta: { type: 'text', text: 'Hel' } },
    { type: 'blockDelta', delta: { type: 'text', text: 'lo' } },
    { type: 'blockStart', index: 1, block: { type: 'reasoning' } },
    { type: 'blockDelta', delta: { type: 'reasoning', text: 'Hm' } },
    { type: 'blockStart', index: 2, block: { type: 'toolCall', name: 'look', args: { at: 'it' } } },
    { type: 'messageFinish', reason: 'toolCalls', usage: { totalTokens: 12 } },
  ])
})

const geminiChunk = (parts: object[], others: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...others }],
  modelVersion: 'gemini',
  responseId: 'r1',
})
const GEMINI_USAGE = {
  promptTokenCount: 10,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 7,
  totalTokenCount: 22,
}
const GEMINI_CHUNKS = [
  geminiChunk([{ text: 'Hmm', thought: true }]),
  geminiChunk([{ text: 'Hel' }]),
  geminiChunk([{ text: 'lo' }]),
  {
    ...geminiChunk([{ functionCall: { id: 'a', name: 'f', args: { x: 1 } }, thoughtSignature: 'c2ln' }], {
      finishReason: 'STOP',
    }),
    usageMetadata: GEMINI_USAGE,
  },
]

test('@google/genai returns responses that are read, whole and streamed', async () => {
  const { answers, baseURL, close } = await createReplay()
  onTestFinished(close)
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: `${baseURL}/google` } })
  const request = { model: 'gemini', contents: 'Hi' }
  const [last] = GEMINI_CHUNKS.slice(-1)
  answers.set('/google/v1beta/models/gemini:generateContent', last!)
  const answer = await client.models.generateContent(request)
  expect(gemini.detect(answer)).toBe('response')
  expect(gemini.readResponse(answer)).toEqual(whole(gemini, last))

  answers.set('/google/v1beta/models/gemini:streamGenerateContent', GEMINI_CHUNKS)
  const read = await accumulated(gemini, await client.models.generateContentStream(request))
  expect(read).toEqual(streamed(gemini, GEMINI_CHUNKS))
  expect(read.messages[0]).toMatchObject({
    content: [{ text: 'Hmm' }, { text: 'Hello' }, { type: 'toolCall', id: 'a', args: { x: 1 } }],
    usage: { inputTokens: 10, outputTokens: 12 },
  })
})

test('@aws-sdk/client-bedrock-runtime returns a Converse response that is read', async () => {
  const client = await bedrockThat(
    'application/json',
    JSON.stringify({
      output: {
        message: {
          role: 'assistant',
          content: [{ text: 'Hi' }, { reasoningContent: { redactedContent: 'AQID' } }],
        },
      },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
      metrics: { latencyMs: 4 },
    }),
  )
  const command = new ConverseCommand({
    modelId: 'm',
    messages: [
      { role: 'user', content: [{ image: { format: 'png', source: { bytes: new Uint8Array([1, 2, 3]) } } }] },
    ],
    inferenceConfig: { maxTokens: 5 },
  })
  const response = await client.send(command)
  const read = bedrockConverse.readResponse(response)
  expect(viaJson(read)).toEqual(read)
  expect(read).toEqual({
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'reasoning', text: '', extras: { redactedContent: 'AQID' } },
        ],
        finishReason: 'stop',
        usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
        metadata: {
          stopReason: 'end_turn',
          usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
          metrics: { latencyMs: 4 },
        },
      },
    ],
  })
  expect(bedrockConverse.readRequest(command.input)).toMatchObject({
    messages: [{ role: 'user', content: [{ type: 'image', base64: 'AQID', mimeType: 'image/png' }] }],
    params: { model: 'm', maxTokens: 5 },
  })
})

test('@aws-sdk/client-bedrock-runtime returns a ConverseStream that is read up to its exception', async () => {
  const client = await bedrockThat(
    'application/vnd.amazon.eventstream',
    events(
      ['messageStart', { role: 'assistant', p: 'abc' }],
      [
        'contentBlockDelta',
        { contentBlockIndex: 0, delta: { reasoningContent: { redactedContent: 'AQID' } } },
      ],
      ['contentBlockStop', { contentBlockIndex: 0 }],
      ['contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 'a', name: 'look' } } }],
      ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{"at":' } } }],
      ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '"it"}' } } }],
      ['contentBlockStop', { contentBlockIndex: 1 }],
      ['messageStop', { stopReason: 'tool_use' }],
      ['metadata', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, metrics: { latencyMs: 4 } }],
    ),
  )
  const { stream } = await client.send(new ConverseStreamCommand({ modelId: 'm', messages: [] }))
  expect(await readAll(bedrockConverse, stream!)).toMatchObject([
    { type: 'messageStart' },
    { type: 'blockStart', block: { type: 'reasoning', extras: { redactedContent: 'AQID' } } },
    { type: 'blockFinish', index: 0 },
    { type: 'blockStart', block: { type: 'toolCall', id: 'a', name: 'look' } },
    { type: 'blockDelta', delta: { args: '{"at":' } },
    { type: 'blockDelta', delta: { args: '"it"}' } },
    { type: 'blockFinish', index: 1 },
    { type: 'messageFinish', reason: 'toolCalls', usage: { totalTokens: 3 } },
  ])
})

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Grüße' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 2, output_tokens: 3 },
}

test('@aws-sdk/client-bedrock-runtime returns InvokeModel responses that are read, whole and streamed', async () => {
  const client = await bedrockThat('application/json', JSON.stringify(MESSAGE))
  const command = new InvokeModelCommand({
    modelId: 'm',
    body: JSON.stringify({
      anthropic_version: 'v',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  })
  const response = await client.send(command)
  expect(bedrockInvoke.detect(response)).toBe('response')
  expect(bedrockInvoke.readResponse(response).messages).toMatchObject([
    { content: [{ type: 'text', text: 'Grüße' }], usage: { totalTokens: 5 } },
  ])
  expect(bedrockInvoke.readRequest(command.input)).toMatchObject({
    messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
    params: { model: 'm', maxTokens: 5 },
  })
  const chunk = (event: object): [string, object] => [
    'chunk',
    { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'ab' },
  ]
  const streaming = await bedrockThat(
    'application/vnd.amazon.eventstream',
    events(
      chunk({ type: 'message_start', message: { ...MESSAGE, content: [] } }),
      chunk({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße' } }),
      chunk({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 2 } }),
    ),
  )
  const { body } = await streaming.send(
    new InvokeModelWithResponseStreamCommand({ modelId: 'm', body: '{}' }),
  )
  expect(await readAll(bedrockInvoke, body!)).toMatchObject([
    { type: 'messageStart', id: 'msg_1' },
    { type: 'blockStart' },
    { type: 'blockDelta', delta: { text: 'Grüße' } },
    { type: 'messageFinish', metadata: { 'amazon-bedrock-invocationMetrics': { inputTokenCount: 2 } } },
  ])
})
