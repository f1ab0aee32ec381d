import { expect, test } from 'vitest'
import { bedrockInvoke } from '../../../../src/models/formats/index.ts'
import { streamed } from '../../helpers.ts'

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const base64 = (value: unknown) => btoa(String.fromCharCode(...bytes(value)))

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Grüße' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 2, output_tokens: 3, cache_read_input_tokens: 5 },
}

test.each([
  ['bytes', bytes(message)],
  ['JSON', JSON.stringify(message)],
  ['base64', base64(message)],
])('a response whose body is %s is read', (_, body) => {
  const response = { body, contentType: 'application/json' }
  expect(bedrockInvoke.detect(response)).toBe('response')
  expect(bedrockInvoke.readResponse(response)).toMatchObject({
    messages: [
      {
        content: [{ type: 'text', text: 'Grüße' }],
        usage: { inputTokens: 7, outputTokens: 3, inputDetails: { cache_read: 5 } },
        metadata: { model: 'claude' },
      },
    ],
  })
})

test('a stream of chunks keeps the metrics of Bedrock', () => {
  const metrics = { inputTokenCount: 2, outputTokenCount: 3, firstByteLatency: 9 }
  const events = [
    { type: 'message_start', message: { ...message, content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop', 'amazon-bedrock-invocationMetrics': metrics },
  ]
  const chunks = events.map((event) => ({ chunk: { bytes: base64(event) } }))
  for (const chunk of chunks) expect(bedrockInvoke.detect(chunk)).toBe('chunk')
  const [read] = streamed(bedrockInvoke, chunks).messages
  expect(read).toMatchObject({
    content: [{ type: 'text', text: 'Grüße' }],
    finishReason: 'stop',
    metadata: { 'amazon-bedrock-invocationMetrics': metrics },
  })
  const reader = bedrockInvoke.readStream()
  for (const event of events) reader.push({ chunk: { bytes: bytes(event) } })
  expect(reader.end()).toMatchObject([{ type: 'messageFinish', reason: 'stop', usage: { inputTokens: 7 } }])
})

test('an exception is an error, and a chunk that is no JSON is kept', () => {
  const reader = bedrockInvoke.readStream()
  reader.push({ chunk: { bytes: new Uint8Array([255]) } })
  expect(
    reader.push({ modelStreamErrorException: { message: 'Broke', originalStatusCode: 500 } }),
  ).toMatchObject([
    { type: 'messageStart' },
    { type: 'error', message: 'Broke', code: 'modelStreamErrorException' },
  ])
  expect(reader.end()).toMatchObject([
    { metadata: { error: { originalStatusCode: 500 }, unknownEvents: [{ chunk: { bytes: '/w==' } }] } },
  ])
})

test('a request is read from its body like one of Anthropic Messages', () => {
  const body = {
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 5,
    system: 'S',
    messages: [{ role: 'user', content: 'Hi' }],
  }
  const request = { modelId: 'anthropic.claude', contentType: 'application/json', body: JSON.stringify(body) }
  expect(bedrockInvoke.detect(request)).toBe('request')
  expect(bedrockInvoke.readRequest(request)).toEqual({
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'S' }] },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ],
    params: { model: 'anthropic.claude', maxTokens: 5 },
    extras: { contentType: 'application/json', anthropic_version: 'bedrock-2023-05-31' },
  })
  expect(bedrockInvoke.readRequest({ modelId: 'm', body: 'none' }).issues).toHaveLength(1)
})
