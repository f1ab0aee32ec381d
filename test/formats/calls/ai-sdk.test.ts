import type { MockLanguageModelV3 } from 'ai/test'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Message } from '../../../src/messages/index.ts'
import { aiSdk } from '../../../src/models/formats/models.ts'

/** What a model of version 3 gets. */
type Prompt = Parameters<MockLanguageModelV3['doStream']>[0]['prompt']

const HI: readonly Message[] = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]

const busy = Object.assign(new Error('429 Too many requests'), { isRetryable: true })

/** A model that gives one outcome after the other. */
function modelOf(specificationVersion: string, outcomes: readonly (Error | 'stream')[]) {
  const prompts: Prompt[] = []
  const doStream = async (options: { readonly prompt: Prompt }) => {
    const outcome = outcomes[prompts.push(options.prompt) - 1]
    if (outcome instanceof Error) throw outcome
    return { stream: new ReadableStream<unknown>() }
  }
  return { prompts, model: aiSdk({ specificationVersion, doStream }) }
}

describe('a call that the provider has no room for', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('is made again twice, later each time', async () => {
    const { model, prompts } = modelOf('v3', [busy, busy, 'stream'])
    const stream = model.stream({ messages: HI })
    await vi.advanceTimersByTimeAsync(2_000)
    expect(prompts).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(4_000)
    expect(await stream).toBeInstanceOf(ReadableStream)
    expect(prompts).toHaveLength(3)
  })

  test('fails with its error the third time', async () => {
    const { model } = modelOf('v3', [busy, busy, busy])
    const failed = expect(Promise.resolve(model.stream({ messages: HI }))).rejects.toBe(busy)
    await vi.advanceTimersByTimeAsync(6_000)
    await failed
  })

  test('is not made again when the run is cancelled', async () => {
    const { model, prompts } = modelOf('v3', [busy])
    const stop = new AbortController()
    const cancelled = new Error('The run was cancelled.')
    const failed = expect(Promise.resolve(model.stream({ messages: HI, signal: stop.signal }))).rejects.toBe(
      cancelled,
    )
    await vi.advanceTimersByTimeAsync(1_000)
    stop.abort(cancelled)
    await failed
    expect([prompts.length, vi.getTimerCount()]).toEqual([1, 0])
  })

  test('is not made again for any other error', async () => {
    const wrong = new Error('400 This is no model.')
    const { model, prompts } = modelOf('v3', [wrong])
    await expect(Promise.resolve(model.stream({ messages: HI }))).rejects.toBe(wrong)
    expect(prompts).toHaveLength(1)
  })
})

const FILES: readonly Message[] = [
  {
    role: 'user',
    content: [
      { type: 'image', base64: 'iVBORw0KGgo=', mimeType: 'image/png' },
      { type: 'image', url: 'https://a.example/b.png', mimeType: 'image/png' },
    ],
  },
  { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: 'look', args: {} }] },
  {
    role: 'tool',
    name: 'look',
    toolCallId: 'a',
    content: [
      { type: 'text', text: 'Seen.' },
      { type: 'image', base64: 'iVBORw0KGgo=', mimeType: 'image/png' },
    ],
  },
]

const PROMPT_V3 = [
  {
    role: 'user',
    content: [
      { type: 'file', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
      { type: 'file', data: new URL('https://a.example/b.png'), mediaType: 'image/png' },
    ],
  },
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'look', input: {} }] },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'a',
        toolName: 'look',
        output: {
          type: 'content',
          value: [
            { type: 'text', text: 'Seen.' },
            { type: 'image-data', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
          ],
        },
      },
    ],
  },
] satisfies Prompt

const DATA = { type: 'data', data: 'iVBORw0KGgo=' }

test('files are written as each version of the AI SDK gives them to its models', async () => {
  const v3 = modelOf('v3', ['stream'])
  await v3.model.stream({ messages: FILES })
  expect(v3.prompts[0]).toEqual(PROMPT_V3)
  const v4 = modelOf('v4', ['stream'])
  await v4.model.stream({ messages: FILES })
  const [user, assistant, result] = v4.prompts[0] as readonly { readonly content: readonly unknown[] }[]
  expect(user?.content).toEqual([
    { type: 'file', data: DATA, mediaType: 'image/png' },
    { type: 'file', data: { type: 'url', url: new URL('https://a.example/b.png') }, mediaType: 'image/png' },
  ])
  expect(assistant).toEqual(PROMPT_V3[1])
  expect(result?.content).toMatchObject([
    {
      output: {
        value: [
          { type: 'text', text: 'Seen.' },
          { type: 'file', data: DATA, mediaType: 'image/png' },
        ],
      },
    },
  ])
})
