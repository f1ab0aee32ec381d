import { ChatAnthropic } from '@langchain/anthropic'
import type { AIMessageChunk } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { afterAll, expect, test } from 'vitest'
import {
  anthropicMessages,
  type Format,
  langchain,
  type ModelResponse,
  openaiChat,
  openaiResponses,
} from '../../src/models/formats/index.ts'
import { accumulated, whole } from './helpers.ts'
import {
  CHAT,
  CHAT_STREAM,
  CLAUDE,
  CLAUDE_EVENTS,
  createReplay,
  RESPONSE,
  RESPONSE_EVENTS,
  TOOLS_EVENTS,
  TOOLS_RESPONSE,
} from './recorded.ts'

const { answers, baseURL, close } = await createReplay()
afterAll(close)

const about = { apiKey: 'none', maxRetries: 0 }
const configuration = { baseURL: `${baseURL}/openai` }

const models = [
  ['ChatAnthropic', anthropicMessages, '/anthropic/v1/messages', CLAUDE, CLAUDE_EVENTS],
  ['ChatOpenAI', openaiChat, '/openai/chat/completions', CHAT, CHAT_STREAM],
  ['ChatOpenAI with Responses', openaiResponses, '/openai/responses', RESPONSE, RESPONSE_EVENTS],
  ['ChatOpenAI with tools of Responses', openaiResponses, '/openai/responses', TOOLS_RESPONSE, TOOLS_EVENTS],
] as const satisfies readonly [string, Format, string, object, readonly object[]][]

const create = (name: string) =>
  name === 'ChatAnthropic'
    ? new ChatAnthropic({ ...about, model: 'claude', anthropicApiUrl: `${baseURL}/anthropic` })
    : new ChatOpenAI({ ...about, model: 'gpt', configuration, useResponsesApi: name.endsWith('Responses') })

/** The part of a message that LangChain passes on, which leaves out raw counts and the ids of items. */
const said = ({ messages: [message] }: ModelResponse) => {
  const { content, finishReason, usage, metadata } = message!
  return {
    content: content.map(({ type, id, ...block }) => {
      const { text, name, args } = block as { text?: string; name?: string; args?: unknown }
      return { type, text, name, args, ...(type === 'toolCall' && { id }) }
    }),
    finishReason,
    usage,
    model: metadata?.model,
  }
}

test.each(models)(
  '%s reads like the response of the provider itself',
  async (name, format, path, answer, chunks) => {
    const expected = said(whole(format, answer))
    answers.set(path, answer)
    expect(said(langchain.readResponse(await create(name).invoke('Hi')))).toEqual(expected)

    answers.set(path, chunks)
    const all: AIMessageChunk[] = []
    for await (const chunk of await create(name).stream('Hi')) all.push(chunk)
    const merged = all.reduce((one, other) => one.concat(other))
    const streamed = await accumulated(langchain, (await create(name).stream('Hi')) as AsyncIterable<unknown>)
    expect(said(streamed)).toEqual(expected)
    expect(said(langchain.readResponse(merged)).content).toEqual(expected.content)
  },
)
