import { createAnthropic as anthropic6 } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI as google6 } from '@ai-sdk/google'
import { createOpenAI as openai6 } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { createAnthropic as anthropic7 } from 'ai-sdk-anthropic-4'
import { createGoogleGenerativeAI as google7 } from 'ai-sdk-google-4'
import { createOpenAI as openai7 } from 'ai-sdk-openai-4'
import OpenAI from 'openai'
import type OpenAI7 from 'openai7'
import { expect, onTestFinished, test } from 'vitest'
import {
  aiSdk,
  anthropic,
  openai,
  openaiCompatible,
  openaiResponses,
} from '../../../src/models/formats/models.ts'
import {
  anthropicRefusals,
  geminiRefusals,
  openaiChatRefusals,
  openaiResponsesRefusals,
} from '../oracle/index.ts'
import { converse, PARAMETERS, refused, SCRIPT } from './converse.ts'
import { anthropicStream, chatStream, geminiStream, openProvider, responsesStream } from './provider.ts'

type Asked = Record<string, unknown>

/** The newest client needs a newer Node than some that run this, so its types alone are checked. */
const _modelsOf7 = (client: OpenAI7) => [openai('gpt', client), openaiResponses('gpt', client)]

const provider = async (...given: Parameters<typeof openProvider>) => {
  const opened = await openProvider(...given)
  onTestFinished(opened.close)
  return opened
}

/** The fields of requests that an oracle checks. */
const only = (asked: readonly Asked[], ...fields: readonly string[]) =>
  asked.map((request) =>
    Object.fromEntries(fields.flatMap((key) => (key in request ? [[key, request[key]]] : []))),
  )

const TOOL = { name: 'refund', description: 'Refunds an order', parameters: PARAMETERS }

test.each([
  ['openai', openai],
  ['openaiCompatible', openaiCompatible],
])('%s asks through the SDK of OpenAI, with the conversation written back', async (_, api) => {
  const { origin, asked } = await provider(chatStream, SCRIPT)
  const client = new OpenAI({ apiKey: 'none', baseURL: origin })
  await converse(api('gpt-5-mini', client, { temperature: 0 }))
  expect(only(asked, 'messages').flatMap((request) => openaiChatRefusals(request))).toEqual([])
  expect(asked.map(({ messages: _, ...rest }) => rest)).toEqual(
    Array(3).fill({
      model: 'gpt-5-mini',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      tools: [{ type: 'function', function: TOOL }],
    }),
  )
  expect(asked[2]!.messages).toEqual([
    { role: 'system', content: 'You help with orders.' },
    { role: 'user', content: 'Refund order 17.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'call_0', type: 'function', function: { name: 'refund', arguments: '{"order":17}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_0', content: 'Order 17 is refunded.' },
    { role: 'assistant', content: 'Order 17 is refunded.' },
    { role: 'user', content: 'Thank you.' },
  ])
})

test('openaiResponses asks through the SDK of OpenAI', async () => {
  const { origin, asked } = await provider(responsesStream, SCRIPT)
  await converse(openaiResponses('gpt-5-mini', new OpenAI({ apiKey: 'none', baseURL: origin })))
  expect(only(asked, 'input', 'instructions').flatMap(openaiResponsesRefusals)).toEqual([])
  expect(asked[2]).toMatchObject({
    model: 'gpt-5-mini',
    instructions: 'You help with orders.',
    tools: [{ type: 'function', ...TOOL, strict: false }],
    stream: true,
  })
  expect((asked[2]!.input as { type?: string }[]).map(({ type = 'message' }) => type)).toEqual([
    'message',
    'function_call',
    'function_call_output',
    'message',
    'message',
  ])
})

test('anthropic asks through the SDK of Anthropic', async () => {
  const { origin, asked } = await provider(anthropicStream, SCRIPT)
  await converse(anthropic('claude-sonnet-5-5', new Anthropic({ apiKey: 'none', baseURL: origin })))
  expect(only(asked, 'system', 'messages').flatMap(anthropicRefusals)).toEqual([])
  expect(asked[2]).toMatchObject({
    model: 'claude-sonnet-5-5',
    max_tokens: 4096,
    system: [{ type: 'text', text: 'You help with orders.' }],
    tools: [{ name: 'refund', description: 'Refunds an order', input_schema: PARAMETERS }],
    messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'user' }, { role: 'assistant' }, {}],
  })
})

test.each([
  [6, openai6],
  [7, openai7],
])('aiSdk asks a model of the AI SDK %i for OpenAI', async (_, create) => {
  const { origin, asked } = await provider(responsesStream, SCRIPT)
  await converse(aiSdk(create({ apiKey: 'none', baseURL: origin })('gpt-5-mini'), { temperature: 0 }))
  expect(only(asked, 'input', 'instructions').flatMap(openaiResponsesRefusals)).toEqual([])
  expect(asked).toHaveLength(3)
  expect(asked[2]).toMatchObject({ tools: [{ type: 'function', name: 'refund' }] })
})

test.each([
  [6, openai6],
  [7, openai7],
])('aiSdk asks a model of the AI SDK %i for Chat Completions', async (_, create) => {
  const { origin, asked } = await provider(chatStream, SCRIPT)
  await converse(aiSdk(create({ apiKey: 'none', baseURL: origin }).chat('gpt-4.1')))
  expect(only(asked, 'messages').flatMap((request) => openaiChatRefusals(request))).toEqual([])
  expect(asked[2]!.messages).toHaveLength(6)
})

test.each([
  [6, anthropic6],
  [7, anthropic7],
])('aiSdk asks a model of the AI SDK %i for Anthropic', async (_, create) => {
  const { origin, asked } = await provider(anthropicStream, SCRIPT)
  await converse(aiSdk(create({ apiKey: 'none', baseURL: origin })('claude-sonnet-4-5')))
  expect(only(asked, 'system', 'messages').flatMap(anthropicRefusals)).toEqual([])
  expect(asked).toHaveLength(3)
})

test.each([
  [6, google6],
  [7, google7],
])('aiSdk asks a model of the AI SDK %i for Google', async (_, create) => {
  const { origin, asked } = await provider(geminiStream, SCRIPT)
  await converse(aiSdk(create({ apiKey: 'none', baseURL: origin })('gemini-3-pro')))
  expect(only(asked, 'systemInstruction', 'contents').flatMap(geminiRefusals)).toEqual([])
  expect(asked).toHaveLength(3)
})

test('a call that the provider refuses fails the run, with the error of its SDK', async () => {
  const refusal = { status: 400, body: { error: { message: 'This model is not yours.', type: 'invalid' } } }
  const { origin } = await provider(chatStream, [refusal])
  const client = new OpenAI({ apiKey: 'none', baseURL: origin })
  const { status, reported } = await refused(openai('gpt-5-mini', client))
  expect(status).toBe('error')
  expect(reported).toBeInstanceOf(OpenAI.BadRequestError)
})
