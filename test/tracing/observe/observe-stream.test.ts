import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { Stream } from 'openai/streaming'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type ModelCallRecord,
  memorySink,
  observeModelStream,
  startLlmRun,
  TracingError,
} from '../../../src/models/tracing/index.ts'
import { frozen } from '../../formats/helpers.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const delta = (delta: object, rest: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  model: 'gpt-4o',
  choices: [{ index: 0, delta, finish_reason: null, ...rest }],
})
const CHUNKS = frozen([
  delta({ role: 'assistant', content: '' }),
  delta({ content: 'Hel' }),
  delta({ content: 'lo' }),
  delta({}, { finish_reason: 'stop' }),
  {
    id: 'c1',
    object: 'chat.completion.chunk',
    choices: [],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  },
])

/** A source that counts its pulls. */
function counted(chunks: readonly unknown[] = CHUNKS, failure?: unknown) {
  const counts = { pulled: 0, returned: 0 }
  const source = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const value = chunks[counts.pulled++]
        if (value === undefined && failure !== undefined) throw failure
        return value === undefined ? { done: true as const, value } : { done: false as const, value }
      },
      async return() {
        counts.returned++
        return { done: true as const, value: undefined }
      },
    }),
  }
  return { counts, source }
}

function watched<Source extends object>(source: Source, options: object = {}) {
  const records: ModelCallRecord[] = []
  const stream = observeModelStream(source, { ...options, onEnd: (record) => records.push(record) })
  return { stream, records }
}

const textIn = ({ outputs }: ModelCallRecord) =>
  (outputs.messages as { content: { text?: string }[] }[])[0]?.content.map(({ text }) => text).join('')

async function all<Chunk>(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

describe('an async iterable', () => {
  test('is pulled once per chunk that is asked for', async () => {
    const { counts, source } = counted()
    const { stream, records } = watched(source)
    expect(counts.pulled).toBe(0)
    const iterator = stream[Symbol.asyncIterator]()
    expect(counts.pulled).toBe(0)
    for (const [at, chunk] of CHUNKS.entries()) {
      expect((await iterator.next()).value).toBe(chunk)
      expect(counts.pulled).toBe(at + 1)
    }
    expect(records).toEqual([])
    expect((await iterator.next()).done).toBe(true)
    expect(records).toHaveLength(1)
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    expect(records).toHaveLength(1)
    expect(textIn(records[0]!)).toBe('Hello')
    expect(records[0]!.metadata).toMatchObject({
      ls_model_name: 'gpt-4o',
      usage_metadata: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    })
    expect(records[0]!.events).toEqual([{ name: 'new_token', time: expect.any(String) }])
  })

  test('makes one record with the chunks so far when its reader leaves early', async () => {
    const { counts, source } = counted()
    const { stream, records } = watched(source)
    for await (const chunk of stream) if (chunk === CHUNKS[1]) break
    expect(counts).toEqual({ pulled: 2, returned: 1 })
    expect(records).toHaveLength(1)
    expect(textIn(records[0]!)).toBe('Hel')
    expect(records[0]!.error).toContain('Cancelled')
  })

  test('is complete, not cancelled, when its reader leaves after the finish chunk', async () => {
    const { source } = counted()
    const { stream, records } = watched(source)
    for await (const chunk of stream) if (chunk === CHUNKS[3]) break
    expect(records.map(({ error }) => error)).toEqual([undefined])
  })

  test('that fails throws its error, and makes one record with the chunks so far', async () => {
    const failure = new RangeError('broken')
    const { stream, records } = watched(counted(CHUNKS.slice(0, 3), failure).source)
    await expect(all(stream as AsyncIterable<unknown>)).rejects.toBe(failure)
    expect(records).toHaveLength(1)
    expect(textIn(records[0]!)).toBe('Hello')
    expect(records[0]!.error).toBe('RangeError: broken')
  })

  test('may have bare text, as from a custom model', async () => {
    const { stream, records } = watched(counted(['Hel', 'lo']).source, {
      request: { messages: [{ role: 'user', content: 'Hi' }] },
    })
    expect(await all(stream as AsyncIterable<unknown>)).toEqual(['Hel', 'lo'])
    expect(records.map((record) => [textIn(record), record.events.length])).toEqual([['Hello', 1]])
  })

  test('holds no chunk after it was read', async () => {
    const gone: WeakRef<object>[] = []
    const source = (async function* () {
      for (let at = 0; at < 200; at++) {
        const chunk = delta({ content: 'x' })
        gone.push(new WeakRef(chunk))
        yield chunk
      }
    })()
    const { stream, records } = watched(source)
    for (let at = 0; at < 199; at++) await stream.next()
    collectGarbage()
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
    expect(gone.filter((chunk) => chunk.deref()).length).toBeLessThan(5)
    await all(stream)
    expect(textIn(records[0]!)).toHaveLength(200)
  })

  test('keeps its other members', async () => {
    class Special {
      #count = 2
      name = 'special'
      get count() {
        return this.#count
      }
      more() {
        return ++this.#count
      }
      async *[Symbol.asyncIterator]() {
        yield* CHUNKS
      }
    }
    const { stream, records } = watched(new Special())
    expect(stream).toBeInstanceOf(Special)
    expect(stream.name).toBe('special')
    expect(stream.more()).toBe(3)
    expect(await all(stream)).toEqual(CHUNKS)
    expect(records).toHaveLength(1)
    expect(await all(stream)).toEqual(CHUNKS)
    expect(records).toHaveLength(1)
  })
})

describe('an async generator', () => {
  async function* generate() {
    const given: unknown[] = []
    try {
      for (const chunk of CHUNKS) given.push(yield chunk)
    } catch (error) {
      yield delta({ content: '!' })
      throw error
    }
    return given
  }

  test('takes values, and returns one', async () => {
    const { stream, records } = watched(generate())
    await stream.next()
    for (const [at] of CHUNKS.entries()) {
      const result = await stream.next(at as never)
      if (result.done) expect(result.value).toEqual([0, 1, 2, 3, 4])
    }
    expect(records).toHaveLength(1)
  })

  test('takes errors', async () => {
    const { stream, records } = watched(generate())
    await stream.next()
    expect(await stream.throw(new Error('no'))).toMatchObject({ done: false })
    await expect(stream.next()).rejects.toThrow('no')
    expect(records.map((record) => [textIn(record), record.error])).toEqual([['!', 'no']])
  })

  test('is ended by return', async () => {
    const { stream, records } = watched(generate())
    await stream.next()
    expect(await stream.return('over' as never)).toEqual({ done: true, value: 'over' })
    expect(records).toHaveLength(1)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect(records).toHaveLength(1)
  })
})

describe('a ReadableStream', () => {
  function source(fail?: unknown) {
    const counts = { pulled: 0, cancelled: [] as unknown[] }
    const stream = new ReadableStream<unknown>(
      {
        pull(controller) {
          const chunk = CHUNKS[counts.pulled++]
          if (chunk !== undefined) controller.enqueue(chunk)
          else if (fail !== undefined) controller.error(fail)
          else controller.close()
        },
        cancel: (reason) => void counts.cancelled.push(reason),
      },
      { highWaterMark: 0 },
    )
    return { counts, stream }
  }

  test('is pulled once per chunk that is asked for', async () => {
    const { counts, stream: given } = source()
    const { stream, records } = watched(given)
    expect(stream).toBeInstanceOf(ReadableStream)
    const reader = stream.getReader()
    await Promise.resolve()
    expect(counts.pulled).toBe(0)
    for (const [at, chunk] of CHUNKS.entries()) {
      expect((await reader.read()).value).toBe(chunk)
      expect(counts.pulled).toBe(at + 1)
    }
    expect((await reader.read()).done).toBe(true)
    expect(records.map(textIn)).toEqual(['Hello'])
  })

  test('can be iterated, teed and piped', async () => {
    const iterated = watched(source().stream)
    expect(await all(iterated.stream as unknown as AsyncIterable<unknown>)).toEqual(CHUNKS)
    expect(iterated.records).toHaveLength(1)
    const teed = watched(source().stream)
    const [left, right] = teed.stream.tee()
    await Promise.all([left, right].map((one) => one.pipeTo(new WritableStream())))
    expect(teed.records).toHaveLength(1)
  })

  test('that is cancelled cancels its source, and makes one record with the chunks so far', async () => {
    const { counts, stream: given } = source()
    const { stream, records } = watched(given)
    const reader = stream.getReader()
    await reader.read()
    await reader.read()
    await reader.cancel('enough')
    expect(counts.cancelled).toEqual(['enough'])
    expect(records.map((record) => [textIn(record), record.error?.slice(0, 9)])).toEqual([
      ['Hel', 'Cancelled'],
    ])
  })

  test('that is cancelled before it is read cancels its source too', async () => {
    const { counts, stream: given } = source()
    const { stream, records } = watched(given)
    await stream.cancel('never mind')
    expect(counts.cancelled).toEqual(['never mind'])
    expect(records).toHaveLength(1)
  })

  test('that fails fails with the same error', async () => {
    const failure = new Error('broken')
    const { stream, records } = watched(source(failure).stream)
    await expect(stream.pipeTo(new WritableStream())).rejects.toBe(failure)
    expect(records.map((record) => [textIn(record), record.error])).toEqual([['Hello', 'broken']])
  })

  test('of a subclass keeps its prototype', async () => {
    class Own extends ReadableStream<unknown> {
      own = () => 'own'
      async first() {
        const { value } = await this.getReader().read()
        return value
      }
    }
    const given = new Own({
      start(controller) {
        for (const chunk of CHUNKS) controller.enqueue(chunk)
        controller.close()
      },
    })
    const { stream } = watched(given)
    expect(stream).toBeInstanceOf(Own)
    expect(await stream.first()).toBe(CHUNKS[0])
  })
})

describe('the streams of SDKs keep their helpers', () => {
  async function provider(events: readonly { event?: string; data: unknown }[]): Promise<string> {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' })
      for (const { event, data } of events)
        response.write(`${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(data)}\n\n`)
      response.end(events[0]?.event ? '' : 'data: [DONE]\n\n')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  const chat = {
    model: 'gpt-4o',
    messages: [{ role: 'user' as const, content: 'Hi' }],
    stream: true as const,
  }

  async function openai() {
    const baseURL = await provider(CHUNKS.map((data) => ({ data })))
    return new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 })
  }

  test("OpenAI's stream keeps its helpers", async () => {
    const client = await openai()
    const { stream, records } = watched(await client.chat.completions.create(chat), { request: chat })
    expect(stream).toBeInstanceOf(Stream)
    expect(stream.controller).toBeInstanceOf(AbortController)
    const lines = (await new Response(stream.toReadableStream()).text()).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(CHUNKS)
    expect(records.map(textIn)).toEqual(['Hello'])
    expect(records[0]!.inputs).toEqual({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    })
  })

  test("OpenAI's stream can be teed, and aborted", async () => {
    const client = await openai()
    const teed = watched(await client.chat.completions.create(chat))
    const [left, right] = teed.stream.tee()
    expect(await all(left)).toEqual(await all(right))
    expect(teed.records.map(textIn)).toEqual(['Hello'])
    const aborted = watched(await client.chat.completions.create(chat))
    for await (const chunk of aborted.stream)
      if (chunk.choices[0]?.delta.content === 'Hel') aborted.stream.controller.abort()
    expect(aborted.records).toHaveLength(1)
  })

  test("OpenAI's promise keeps withResponse, reads the body once, and gives one stream", async () => {
    const client = await openai()
    const { stream: promise, records } = watched(client.chat.completions.create(chat))
    const { data, response, request_id } = await promise.withResponse()
    expect([response.status, request_id]).toEqual([200, 'req_1'])
    expect(await promise).toBe(data)
    expect(await all(data)).toEqual(CHUNKS)
    expect(records.map(textIn)).toEqual(['Hello'])
  })

  test("OpenAI's emitter is listened to", async () => {
    const client = await openai()
    const { stream, records } = watched(client.chat.completions.stream(chat))
    const texts: string[] = []
    stream.on('content', (text) => texts.push(text))
    expect((await stream.finalChatCompletion()).choices[0]!.message.content).toBe('Hello')
    expect(texts).toEqual(['Hel', 'lo'])
    expect(records.map((record) => [textIn(record), record.error])).toEqual([['Hello', undefined]])
    const iterated = watched(client.chat.completions.stream(chat))
    expect(await all(iterated.stream)).toHaveLength(CHUNKS.length)
    expect(iterated.records).toHaveLength(1)
  })

  test('a promise of a whole response is passed on, and recorded', async () => {
    const whole = { choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] }
    const { stream: promise, records } = watched(Promise.resolve(whole))
    expect(await promise).toBe(whole)
    expect(records.map((record) => [textIn(record), record.events])).toEqual([['Hello', []]])
  })

  test('a promise that rejects makes a record of the failed call', async () => {
    const client = new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1:1', maxRetries: 0 })
    const { stream: promise, records } = watched(client.chat.completions.create(chat), { request: chat })
    await expect(promise).rejects.toThrow('Connection error')
    await expect(promise.withResponse()).rejects.toThrow('Connection error')
    expect(records.map(({ error }) => error)).toEqual([expect.stringContaining('Connection error')])
    expect(records[0]!.inputs.messages).toHaveLength(1)
  })

  test("Anthropic's stream is observed with parallel calls and thinking", async () => {
    const events = frozen([
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [],
          stop_reason: null,
          usage: { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 1 },
        },
      },
      { type: 'ping' },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
      { type: 'content_block_stop', index: 0 },
      ...[1, 2].flatMap((index) => [
        {
          type: 'content_block_start',
          index,
          content_block: { type: 'tool_use', id: `tu_${index}`, name: 'add', input: {} },
        },
        { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '' } },
        { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '{"n":' } },
        {
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json: `${index}}` },
        },
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { output_tokens: 9 },
      },
      { type: 'message_stop' },
    ])
    const baseURL = await provider(events.map((data) => ({ event: data.type, data })))
    const client = new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 })
    const request = {
      model: 'claude-sonnet-4-5',
      max_tokens: 9,
      messages: chat.messages,
      stream: true as const,
    }
    const { stream, records } = watched(client.messages.create(request), { request })
    expect(await all(await stream)).toEqual(events.filter(({ type }) => type !== 'ping'))
    const [record] = records
    expect(record!.outputs.messages).toEqual([
      {
        role: 'assistant',
        id: 'msg_1',
        content: [
          { type: 'reasoning', text: 'Hm.', extras: { signature: 'sig' } },
          { type: 'tool_call', id: 'tu_1', name: 'add', args: { n: 1 } },
          { type: 'tool_call', id: 'tu_2', name: 'add', args: { n: 2 } },
        ],
        finish_reason: 'tool_calls',
        response_metadata: expect.objectContaining({ model: 'claude-sonnet-4-5', stop_reason: 'tool_use' }),
      },
    ])
    expect(record!.metadata).toMatchObject({
      ls_provider: 'anthropic',
      ls_max_tokens: 9,
      usage_metadata: { input_tokens: 12, output_tokens: 9, input_token_details: { cache_read: 7 } },
    })
  })
})

describe('the new_token event marks the first content', () => {
  /** The number of chunks that were read before the event. */
  async function placeOf(chunks: readonly unknown[]): Promise<number | undefined> {
    let at = 0
    let found: number | undefined
    const run = startLlmRun({ name: 'm' })
    const spy = {
      ...run,
      addEvent(name: string) {
        if (name === 'new_token') found = at
      },
    }
    const source = (async function* () {
      for (; at < chunks.length; at++) yield chunks[at]
    })()
    for await (const _ of observeModelStream(source, { run: spy }));
    return found
  }

  const responses = (type: string, rest: object = {}) => ({
    type: `response.${type}`,
    output_index: 0,
    ...rest,
  })
  const anthropic = (type: string, rest: object = {}) => ({ type, index: 0, ...rest })

  test.each<[string, unknown[], number | undefined]>([
    ['text', [...CHUNKS], 1],
    ['a refusal', [delta({ role: 'assistant' }), delta({ refusal: 'No' })], 1],
    [
      'thinking',
      [delta({ role: 'assistant' }), delta({ reasoning_content: 'Hm' }), delta({ content: 'a' })],
      1,
    ],
    [
      'a tool call',
      [
        delta({ role: 'assistant', content: null }),
        delta({
          tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
        }),
      ],
      1,
    ],
    [
      'in another choice than the first',
      [
        delta({ role: 'assistant' }),
        { choices: [{ index: 1, delta: { role: 'assistant', content: '' } }] },
        { choices: [{ index: 1, delta: { content: 'x' } }] },
      ],
      2,
    ],
    ['audio', [delta({ role: 'assistant' }), delta({ audio: { id: 'a', data: 'AAAA' } })], 1],
    ['absent, which makes no event', [CHUNKS[0], CHUNKS[3], CHUNKS[4]], undefined],
    [
      'a delta of the Responses API but no envelope',
      [
        responses('created', { response: { object: 'response', output: [] } }),
        responses('output_item.added', { item: { type: 'function_call', id: 'i', call_id: 'c', name: 'f' } }),
        responses('function_call_arguments.delta', { delta: '{}' }),
      ],
      2,
    ],
    [
      'a delta of Anthropic but no start of a block',
      [
        { type: 'message_start', message: { type: 'message', content: [] } },
        anthropic('content_block_start', {
          content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
        }),
        anthropic('content_block_delta', { delta: { type: 'input_json_delta', partial_json: '{' } }),
      ],
      2,
    ],
    ...[
      ['code_interpreter_call', 'code_interpreter_call_code'],
      ['custom_tool_call', 'custom_tool_call_input'],
      ['shell_call', 'shell_call_command'],
      ['apply_patch_call', 'apply_patch_call_operation_diff'],
    ].map(([type, name]): [string, unknown[], number] => [
      `a piece of ${name}`,
      [
        responses('output_item.added', { item: { type, id: 'i', call_id: 'c', status: 'in_progress' } }),
        responses(`${name}.delta`, { delta: 'a' }),
        responses(`${name}.delta`, { delta: 'b' }),
      ],
      1,
    ]),
    ...[
      { type: 'mcp_approval_request', id: 'i', server_label: 's', name: 'f', arguments: '{}' },
      { type: 'program', id: 'i', call_id: 'c', code: '1' },
    ].map((item): [string, unknown[], number] => [
      `an item of the type ${item.type}`,
      [responses('output_item.added', { item }), responses('output_item.done', { item })],
      1,
    ]),
    [
      'a partial image',
      [
        responses('output_item.added', { item: { type: 'image_generation_call', id: 'i' } }),
        responses('image_generation_call.partial_image', { partial_image_b64: 'AAAA' }),
      ],
      1,
    ],
    [
      'no list of tools',
      [
        responses('output_item.added', { item: { type: 'mcp_list_tools', id: 'i', tools: [] } }),
        responses('output_item.done', { item: { type: 'mcp_list_tools', id: 'i', tools: [{ name: 'f' }] } }),
        responses('output_text.delta', { output_index: 1, content_index: 0, delta: 'a' }),
      ],
      2,
    ],
    [
      'no annotation',
      [
        responses('output_text.annotation.added', {
          content_index: 0,
          annotation: { type: 'url_citation', url: 'https://a' },
        }),
        responses('output_text.annotation.added', {
          content_index: 0,
          annotation: { type: 'url_citation', url: 'https://b' },
        }),
        responses('output_text.delta', { content_index: 0, delta: 'a' }),
      ],
      2,
    ],
    [
      'a transcript of audio, but not its id',
      [
        delta({ role: 'assistant', audio: { id: 'a' } }),
        delta({ audio: { transcript: 'H' } }),
        delta({ audio: { data: 'AAAA' } }),
      ],
      1,
    ],
    [
      'a delta of Converse but no start of a block',
      [
        { messageStart: { role: 'assistant' } },
        { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name: 'f' } } } },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{' } } } },
      ],
      2,
    ],
    [
      'a delta of Interactions but no start of a step',
      [
        { event_type: 'interaction.start', interaction: { id: 'i', status: 'in_progress' } },
        { event_type: 'step.start', index: 0, step: { type: 'function_call', id: 'c', name: 'f' } },
        { event_type: 'step.delta', index: 0, delta: { type: 'arguments_delta', arguments: '{' } },
      ],
      2,
    ],
  ])('the first content may be %s', async (_, chunks, at) => {
    expect(await placeOf(chunks)).toBe(at)
  })

  test('a run gets one new_token event', async () => {
    const sink = memorySink()
    const run = startLlmRun({ name: 'm', sinks: [sink] })
    await all(observeModelStream(counted().source, { run }) as AsyncIterable<unknown>)
    await run.delivered()
    expect(sink.runs[0]!.events.map(({ name }) => name)).toEqual(['new_token'])
    expect(sink.runs[0]!.events[0]).not.toHaveProperty('kwargs')
  })
})

describe('an error in tracing', () => {
  test('never reaches the stream', async () => {
    const errors: unknown[] = []
    const stream = observeModelStream(counted().source, {
      onEnd() {
        throw new Error('in onEnd')
      },
      onError: (error) => errors.push(error),
    })
    expect(await all(stream as AsyncIterable<unknown>)).toEqual(CHUNKS)
    expect(errors).toEqual([new Error('in onEnd')])
  })

  test('throws at once if it is a mistake of the caller', () => {
    expect(() => observeModelStream({})).toThrow(TracingError)
    expect(() => observeModelStream(counted().source, { format: 'telegraph' })).toThrow(TracingError)
  })

  test('does not stop chunks that no format knows, and the record says so', async () => {
    const chunks = Array.from({ length: 40 }, (_, at) => ({ at }))
    const { stream, records } = watched(counted(chunks).source)
    expect(await all(stream as AsyncIterable<unknown>)).toEqual(chunks)
    expect(records[0]!.issues).toEqual([{ path: 'stream', message: 'No format matches its chunks.' }])
  })

  test('differs from an error in the stream, which is the error of the record', async () => {
    const { stream, records } = watched(
      counted([CHUNKS[1], { error: { message: 'overloaded', code: 'server_error' } }]).source,
      { format: 'openaiChat' },
    )
    await all(stream as AsyncIterable<unknown>)
    expect(records.map((record) => [textIn(record), record.error])).toEqual([
      ['Hel', 'server_error: overloaded'],
    ])
  })
})
