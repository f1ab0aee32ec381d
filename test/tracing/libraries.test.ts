import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { jsonSchema, streamText } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test'
import { expect, onTestFinished, test } from 'vitest'
import { type ModelCallRecord, observeModelStream } from '../../src/models/tracing/index.ts'

/** The real streams of libraries are observed. */

function watched<Source extends object>(source: Source) {
  const records: ModelCallRecord[] = []
  return { stream: observeModelStream(source, { onEnd: (record) => records.push(record) }), records }
}

const blocksOf = ({ outputs }: ModelCallRecord) => (outputs.messages as { content: object[] }[])[0]?.content

async function all<Chunk>(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

test("the AI SDK's stream is observed", async () => {
  const usage = {
    inputTokens: { total: 7, noCache: 3, cacheRead: 4, cacheWrite: undefined },
    outputTokens: { total: 5, text: 3, reasoning: 2 },
  }
  const parts = [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'r1', modelId: 'mock', timestamp: new Date(0) },
    { type: 'reasoning-start', id: 't' },
    { type: 'reasoning-delta', id: 't', delta: 'Hm.' },
    { type: 'reasoning-end', id: 't' },
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'Hel' },
    { type: 'text-delta', id: '1', delta: 'lo' },
    { type: 'text-end', id: '1' },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":1}' },
    { type: 'finish', usage, finishReason: { unified: 'tool-calls', raw: 'tool_calls' } },
  ]
  const model = new MockLanguageModelV3({
    doStream: async () => ({ stream: convertArrayToReadableStream(parts) }) as never,
  })
  const result = streamText({
    model,
    prompt: 'Hi',
    tools: { add: { inputSchema: jsonSchema({ type: 'object' }) } },
  })
  const { stream, records } = watched(result.fullStream)
  expect(stream).toBeInstanceOf(ReadableStream)
  expect((await all(stream)).map(({ type }) => type)).toContain('text-delta')
  expect(await result.text).toBe('Hello')
  expect(records).toHaveLength(1)
  expect(blocksOf(records[0]!)).toEqual([
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Hello' },
    { type: 'tool_call', id: 'c1', name: 'add', args: { a: 1 } },
  ])
  expect(records[0]!.metadata.usage_metadata).toMatchObject({
    input_tokens: 7,
    output_tokens: 5,
    input_token_details: { cache_read: 4 },
  })
})

test("LangChain's stream is observed", async () => {
  const model = new FakeListChatModel({ responses: ['Hello'] })
  const given = await model.stream('Hi')
  const { stream, records } = watched(given)
  expect(stream.constructor).toBe(given.constructor)
  expect((await all(stream)).map(({ content }) => content).join('')).toBe('Hello')
  expect(records.map(blocksOf)).toEqual([[{ type: 'text', text: 'Hello' }]])
})

test("Anthropic's emitter is observed", async () => {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [],
    usage: { input_tokens: 5, output_tokens: 1 },
  }
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 2 },
    },
    { type: 'message_stop' },
  ]
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 })
  const { stream, records } = watched(
    client.messages.stream({ model: 'claude-x', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
  )
  const final = await stream.finalMessage()
  expect(final.content).toMatchObject([{ type: 'text', text: 'Hello' }])
  expect(records.map(blocksOf)).toEqual([[{ type: 'text', text: 'Hello' }]])
  expect(records[0]!.metadata.usage_metadata).toMatchObject({ input_tokens: 5, output_tokens: 2 })
})
