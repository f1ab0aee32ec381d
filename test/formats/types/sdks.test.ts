import type Anthropic from '@anthropic-ai/sdk'
import type { AIMessageChunk, BaseMessage, ContentBlock as LangChain } from '@langchain/core/messages'
import type { LLMResult } from '@langchain/core/outputs'
import type { GenerateTextResult, ModelMessage, StepResult, streamText, TextStreamPart, ToolSet } from 'ai'
import type { MockLanguageModelV3 } from 'ai/test'
import type OpenAI from 'openai'
import type { APIPromise } from 'openai'
import type { Stream } from 'openai/streaming'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  anthropicMessages,
  type Format,
  langchain,
  openaiChat,
  openaiResponses,
  vercel,
} from '../../../src/models/formats/index.ts'
import { observeModelStream } from '../../../src/models/tracing/index.ts'
import { frozen } from '../helpers.ts'

type Model = InstanceType<typeof MockLanguageModelV3>
type Options = Parameters<Model['doGenerate']>[0]
type Generated = Awaited<ReturnType<Model['doGenerate']>>
type Streamed = Awaited<ReturnType<Model['doStream']>>['stream']
type StreamedPart = Streamed extends ReadableStream<infer Part> ? Part : never

/** The SDKs' types of requests, responses and chunks. */
type Sdk = [
  OpenAI.ChatCompletionCreateParams,
  OpenAI.ChatCompletion,
  OpenAI.ChatCompletionChunk,
  OpenAI.Responses.ResponseCreateParams,
  OpenAI.Responses.Response,
  OpenAI.Responses.ResponseStreamEvent,
  Anthropic.MessageCreateParams,
  Anthropic.Message,
  Anthropic.RawMessageStreamEvent,
  Anthropic.Beta.BetaMessage,
  Parameters<typeof streamText>[0],
  GenerateTextResult<ToolSet, never>,
  StepResult<ToolSet>,
  TextStreamPart<ToolSet>,
  ModelMessage,
  Options,
  Generated,
  StreamedPart,
  BaseMessage[],
  AIMessageChunk,
  LLMResult,
]

test('readers accept the types of the SDKs', () => {
  type Reader = ReturnType<Format['readStream']>
  expectTypeOf<Sdk[number]>().toExtend<Parameters<Format['readRequest']>[0]>()
  expectTypeOf<Sdk[number]>().toExtend<Parameters<Format['readResponse']>[0]>()
  expectTypeOf<Sdk[number]>().toExtend<Parameters<Reader['push']>[0]>()
})

test('an observed stream keeps its type', () => {
  const same = <Given extends object>(stream: Given) => observeModelStream(stream)
  type Chat = Stream<OpenAI.ChatCompletionChunk>
  type Events = Stream<OpenAI.Responses.ResponseStreamEvent>
  type Claude = ReturnType<Anthropic['messages']['stream']>
  expectTypeOf(same<Chat>).returns.toEqualTypeOf<Chat>()
  expectTypeOf(same<APIPromise<Events>>).returns.toEqualTypeOf<APIPromise<Events>>()
  expectTypeOf(same<Claude>).returns.toEqualTypeOf<Claude>()
  expectTypeOf(same<Streamed>).returns.toEqualTypeOf<Streamed>()
})

/** One block of each type that an SDK has. When an SDK adds a type, the compiler reports it as missing. */
type OfEach<Block extends { type: string }> = { [Type in Block['type']]: Extract<Block, { type: Type }> }

const CHAT: OfEach<OpenAI.ChatCompletionContentPart> = {
  text: { type: 'text', text: 'a' },
  image_url: { type: 'image_url', image_url: { url: 'https://a.example/1.png' } },
  input_audio: { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  file: { type: 'file', file: { file_id: 'file_1' } },
}

const RESPONSES: OfEach<OpenAI.Responses.ResponseInputContent> = {
  input_text: { type: 'input_text', text: 'a' },
  input_image: { type: 'input_image', image_url: 'https://a.example/1.png', detail: 'auto' },
  input_file: { type: 'input_file', file_id: 'file_1' },
}

const CLAUDE: OfEach<
  Extract<Anthropic.ContentBlock, { type: 'text' | 'thinking' | 'redacted_thinking' | 'tool_use' }>
> = {
  text: { type: 'text', text: 'a', citations: null },
  thinking: { type: 'thinking', thinking: 'a', signature: 's' },
  redacted_thinking: { type: 'redacted_thinking', data: 'x' },
  tool_use: { type: 'tool_use', id: 'a', name: 'f', input: {}, caller: { type: 'direct' } },
}

type GeneratedBlock = Generated['content'][number]
const MODEL: OfEach<GeneratedBlock> = {
  text: { type: 'text', text: 'a' },
  reasoning: { type: 'reasoning', text: 'a' },
  file: { type: 'file', mediaType: 'image/png', data: 'AAAA' },
  source: { type: 'source', sourceType: 'url', id: 's', url: 'https://a.example' },
  'tool-call': { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: '{}' },
  'tool-result': { type: 'tool-result', toolCallId: 'a', toolName: 'f', result: 1 },
  'tool-approval-request': { type: 'tool-approval-request', approvalId: 'b', toolCallId: 'a' },
}

const PARTS: OfEach<StreamedPart> = {
  'stream-start': { type: 'stream-start', warnings: [] },
  'response-metadata': { type: 'response-metadata', id: 'r', modelId: 'm', timestamp: new Date(0) },
  'text-start': { type: 'text-start', id: '0' },
  'text-delta': { type: 'text-delta', id: '0', delta: 'a' },
  'text-end': { type: 'text-end', id: '0' },
  'reasoning-start': { type: 'reasoning-start', id: '1' },
  'reasoning-delta': { type: 'reasoning-delta', id: '1', delta: 'a' },
  'reasoning-end': { type: 'reasoning-end', id: '1' },
  'tool-input-start': { type: 'tool-input-start', id: 'a', toolName: 'f' },
  'tool-input-delta': { type: 'tool-input-delta', id: 'a', delta: '{}' },
  'tool-input-end': { type: 'tool-input-end', id: 'a' },
  ...MODEL_PARTS(),
  raw: { type: 'raw', rawValue: {} },
  error: { type: 'error', error: new Error('a') },
  finish: {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
  },
}

function MODEL_PARTS() {
  const { text: _, reasoning: __, ...others } = MODEL
  return others
}

const LANGCHAIN: OfEach<
  Exclude<LangChain.Standard, { type: 'text-plain' | 'non_standard' | `${string}_chunk` }>
> = {
  text: { type: 'text', text: 'a' },
  reasoning: { type: 'reasoning', reasoning: 'a' },
  refusal: { type: 'refusal', refusal: 'a' },
  image: { type: 'image', url: 'https://a.example/1.png' },
  audio: { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
  video: { type: 'video', fileId: 'file_1' },
  file: { type: 'file', data: 'AAAA', mimeType: 'application/pdf' },
  tool_call: { type: 'tool_call', id: 'a', name: 'f', args: {} },
  invalid_tool_call: { type: 'invalid_tool_call', id: 'b', name: 'f', args: '{', error: 'Cut off.' },
  server_tool_call: { type: 'server_tool_call', id: 'c', name: 'g', args: {} },
  server_tool_call_result: {
    type: 'server_tool_call_result',
    toolCallId: 'c',
    status: 'success',
    output: {},
  },
}

/** The types that the normal form has no block for, and keeps whole. */
const KEPT = ['tool-approval-request']

const blocksOf: readonly [string, Record<string, { type: string }>, (blocks: unknown[]) => unknown][] = [
  ['openai', CHAT, (content) => openaiChat.readRequest({ messages: [{ role: 'user', content }] })],
  [
    'openai responses',
    RESPONSES,
    (content) => openaiResponses.readRequest({ input: [{ role: 'user', content }] }),
  ],
  ['@anthropic-ai/sdk', CLAUDE, (content) => anthropicMessages.readResponse({ type: 'message', content })],
  ['ai', MODEL, (content) => vercel.readResponse({ content, finishReason: 'stop' })],
  ['@langchain/core', LANGCHAIN, (content) => langchain.readResponse({ type: 'ai', content })],
]

describe.each(blocksOf)('%s', (_, blocks, read) => {
  test.each(Object.entries(blocks).filter(([type]) => !KEPT.includes(type)))(
    'a block of type %s is read',
    (_, block) => {
      const { messages, issues } = read([frozen(block)]) as ReturnType<Format['readResponse']>
      expect(issues).toBeUndefined()
      expect(messages[0]!.content).toHaveLength(1)
      expect(messages[0]!.content[0]!.type).not.toBe('nonStandard')
    },
  )
})

test.each(Object.entries(PARTS))('a part of type %s is no unknown event', (_, part) => {
  const reader = vercel.readStream()
  expect(vercel.detect(part)).toBe('chunk')
  const events = [...reader.push(part), ...reader.end()]
  expect(JSON.stringify(events)).not.toContain('unknownEvents')
})

test("requests of the SDKs' types are read", () => {
  const chat: OpenAI.ChatCompletionCreateParams = { model: 'm', messages: [{ role: 'user', content: 'a' }] }
  const items: OpenAI.Responses.ResponseCreateParams = { model: 'm', input: 'a' }
  const claude: Anthropic.MessageCreateParams = {
    model: 'm',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'a' }],
  }
  const prompt: Options = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] }
  const messages: ModelMessage[] = [{ role: 'user', content: 'a' }]
  for (const [format, request] of [
    [openaiChat, chat],
    [openaiResponses, items],
    [anthropicMessages, claude],
    [vercel, prompt],
    [vercel, { messages }],
  ] as const)
    expect(format.readRequest(request)).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }],
    })
})
