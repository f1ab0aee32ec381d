import Anthropic from '@anthropic-ai/sdk'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test'
import OpenAI from 'openai'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { anthropicMessages, openaiChat, openaiResponses, vercel } from '../../src/models/formats/index.ts'
import { accumulated, streamed, whole } from './helpers.ts'
import {
  CHAT,
  CHAT_STREAM,
  CLAUDE,
  CLAUDE_EVENTS,
  createReplay,
  RESPONSE,
  RESPONSE_EVENTS,
} from './recorded.ts'

const { answers, baseURL, close } = await createReplay()
afterAll(close)

test('openai returns chat completions that are read, whole and streamed', async () => {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${baseURL}/openai` })
  const request = { model: 'gpt', messages: [{ role: 'user' as const, content: 'Hi' }] }
  answers.set('/openai/chat/completions', CHAT)
  const answer = await client.chat.completions.create(request)
  expect(openaiChat.detect(answer)).toBe('response')
  expect(openaiChat.readResponse(answer)).toEqual(whole(openaiChat, CHAT))

  answers.set('/openai/chat/completions', CHAT_STREAM)
  const expected = streamed(openaiChat, CHAT_STREAM)
  const stream = await client.chat.completions.create({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  })
  expect(await accumulated(openaiChat, stream)).toEqual(expected)
  expect(expected).toEqual(whole(openaiChat, CHAT))

  const helper = client.chat.completions.stream(request)
  expect(await accumulated(openaiChat, helper)).toEqual(expected)
  const final = openaiChat.readResponse(await helper.finalChatCompletion()).messages[0]!
  expect(final).toMatchObject({
    id: 'chatcmpl-1',
    finishReason: 'toolCalls',
    usage: expected.messages[0]!.usage!,
  })
  expect(final.content).toMatchObject(expected.messages[0]!.content)
})

test('openai returns responses that are read, whole and streamed', async () => {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${baseURL}/openai` })
  const request = { model: 'gpt', input: 'Hi' }
  answers.set('/openai/responses', RESPONSE)
  const answer = await client.responses.create(request)
  expect(openaiResponses.detect(answer)).toBe('response')
  expect(openaiResponses.readResponse(answer)).toEqual(whole(openaiResponses, RESPONSE))

  answers.set('/openai/responses', RESPONSE_EVENTS)
  const expected = streamed(openaiResponses, RESPONSE_EVENTS)
  expect(
    await accumulated(openaiResponses, await client.responses.create({ ...request, stream: true })),
  ).toEqual(expected)
  const helper = client.responses.stream(request)
  expect((await accumulated(openaiResponses, helper)).messages[0]!.content).toEqual(
    expected.messages[0]!.content,
  )
  expect(openaiResponses.readResponse(await helper.finalResponse()).messages[0]!.usage).toEqual(
    expected.messages[0]!.usage,
  )
})

test('@anthropic-ai/sdk returns messages that are read, whole and streamed', async () => {
  const client = new Anthropic({ apiKey: 'none', baseURL: `${baseURL}/anthropic` })
  const request = { model: 'claude', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hi' }] }
  answers.set('/anthropic/v1/messages', CLAUDE)
  const answer = await client.messages.create(request)
  expect(anthropicMessages.detect(answer)).toBe('response')
  expect(anthropicMessages.readResponse(answer)).toEqual(whole(anthropicMessages, CLAUDE))

  answers.set('/anthropic/v1/messages', CLAUDE_EVENTS)
  const expected = streamed(anthropicMessages, CLAUDE_EVENTS)
  expect(expected).toEqual(whole(anthropicMessages, CLAUDE))
  expect(
    await accumulated(anthropicMessages, await client.messages.create({ ...request, stream: true })),
  ).toEqual(expected)
  const helper = client.messages.stream(request)
  expect(await accumulated(anthropicMessages, helper)).toEqual(expected)
  expect(anthropicMessages.readResponse(await helper.finalMessage()).messages[0]!.content).toEqual(
    expected.messages[0]!.content,
  )
})

const usage = {
  inputTokens: { total: 110, noCache: 10, cacheRead: 80, cacheWrite: 20 },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
}
const response = { id: 'r1', modelId: 'model', timestamp: new Date(0) }
const call = { type: 'tool-call' as const, toolCallId: 'a', toolName: 'add', input: '{"x":1}' }
const source = {
  type: 'source' as const,
  sourceType: 'url' as const,
  id: 's',
  url: 'https://a.example',
  title: 'A',
}
const picture = { type: 'file' as const, mediaType: 'image/png', data: 'AQID' }
const called = { unified: 'tool-calls' as const, raw: 'tool_use' }
const stopped = { unified: 'stop' as const, raw: 'end_turn' }
const thought = { anthropic: { signature: 'sig' } }

/** Gives one result after the other. Lists of results begin with the second in earlier releases of `ai/test`. */
function inTurn(results: readonly unknown[]) {
  let at = 0
  return async () => results[at++] as never
}

const mocked = () =>
  new MockLanguageModelV3({
    provider: 'mock',
    modelId: 'model',
    doGenerate: inTurn([
      {
        content: [{ type: 'reasoning', text: 'Hmm', providerMetadata: thought }, call],
        finishReason: called,
        usage,
        response,
        warnings: [],
      },
      {
        content: [{ type: 'text', text: 'Done' }, source, picture],
        finishReason: stopped,
        usage,
        response,
        warnings: [],
      },
    ]),
    doStream: inTurn([
      {
        stream: convertArrayToReadableStream([
          { type: 'stream-start' as const, warnings: [] },
          { type: 'response-metadata' as const, ...response },
          { type: 'reasoning-start' as const, id: '0' },
          { type: 'reasoning-delta' as const, id: '0', delta: 'Hm' },
          { type: 'reasoning-delta' as const, id: '0', delta: 'm' },
          { type: 'reasoning-end' as const, id: '0', providerMetadata: thought },
          { type: 'tool-input-start' as const, id: 'a', toolName: 'add' },
          { type: 'tool-input-delta' as const, id: 'a', delta: '{"x"' },
          { type: 'tool-input-delta' as const, id: 'a', delta: ':1}' },
          { type: 'tool-input-end' as const, id: 'a' },
          call,
          { type: 'finish' as const, finishReason: called, usage },
        ]),
      },
      {
        stream: convertArrayToReadableStream([
          { type: 'stream-start' as const, warnings: [] },
          { type: 'response-metadata' as const, ...response },
          { type: 'text-start' as const, id: '0' },
          { type: 'text-delta' as const, id: '0', delta: 'Do' },
          { type: 'text-delta' as const, id: '0', delta: 'ne' },
          { type: 'text-end' as const, id: '0' },
          source,
          picture,
          { type: 'finish' as const, finishReason: stopped, usage },
        ]),
      },
    ]),
  })
const tools = {
  add: tool({ inputSchema: z.object({ x: z.number() }), execute: ({ x }) => ({ sum: x + 1 }) }),
}

const DONE = {
  content: [
    { type: 'reasoning', text: 'Hmm', extras: { providerMetadata: thought } },
    { type: 'toolCall', id: 'a', name: 'add', args: { x: 1 } },
    { type: 'serverToolResult', toolCallId: 'a', status: 'success', output: { sum: 2 } },
    { type: 'text', text: 'Done' },
    { type: 'text', text: '', annotations: [{ type: 'citation', url: 'https://a.example', title: 'A' }] },
    { type: 'image', base64: 'AQID', mimeType: 'image/png' },
  ],
  usage: {
    inputTokens: 220,
    outputTokens: 10,
    inputDetails: { cache_read: 160, cache_creation: 40 },
    outputDetails: { reasoning: 4 },
  },
  finishReason: 'stop',
}

test('ai returns a generateText result that is read, live and as JSON', async () => {
  const result = await generateText({ model: mocked(), tools, stopWhen: stepCountIs(3), prompt: 'Hi' })
  expect(vercel.detect(result)).toBe('response')
  const { messages } = vercel.readResponse(result)
  expect(messages).toHaveLength(1)
  expect(messages[0]).toMatchObject(DONE)
  const plain = vercel.readResponse(JSON.parse(JSON.stringify(result))).messages[0]!
  expect(plain.content).toEqual(messages[0]!.content)
  expect(plain.usage).toEqual(messages[0]!.usage)
  expect(JSON.parse(JSON.stringify(messages))).toEqual(messages)
})

test('ai returns a fullStream that accumulates to the generateText result', async () => {
  const generated = vercel.readResponse(
    await generateText({ model: mocked(), tools, stopWhen: stepCountIs(3), prompt: 'Hi' }),
  ).messages[0]!
  const result = streamText({ model: mocked(), tools, stopWhen: stepCountIs(3), prompt: 'Hi' })
  expect(vercel.detect(result)).toBeUndefined()
  const { messages } = await accumulated(vercel, result.fullStream)
  expect(messages[0]).toMatchObject(DONE)
  expect(messages[0]!.content).toEqual(generated.content)
  expect(messages[0]!.usage).toEqual(generated.usage)
})

test('ai shows middleware results of language models that are read', async () => {
  const model = mocked()
  const request = { prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }] }
  expect(vercel.readRequest(request).messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  ])
  const generated = vercel.readResponse(await model.doGenerate(request))
  expect(generated.messages[0]).toMatchObject({
    id: 'r1',
    content: DONE.content.slice(0, 2),
    finishReason: 'toolCalls',
    usage: { inputTokens: 110 },
  })
  const { stream } = await model.doStream(request)
  expect(await accumulated(vercel, stream)).toEqual(generated)
})
