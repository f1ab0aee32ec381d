import fc from 'fast-check'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { convertModelCall, type ModelCallRecord, TracingError } from '../../../src/models/tracing/index.ts'
import { observeModelResponse } from '../../../src/models/tracing/observe/observe-response.ts'

const delta = (delta: object, finish_reason: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  model: 'gpt-4o',
  choices: [{ index: 0, delta, finish_reason }],
})
const CHUNKS = [
  delta({ role: 'assistant', content: '' }),
  delta({ content: 'Grüße ' }),
  delta({ content: '🌍' }),
  delta({}, 'stop'),
  { id: 'c1', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
]
const EVENTS = `: hello\n\n${CHUNKS.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
const SSE = { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'r1' }
const WHOLE = {
  id: 'c1',
  object: 'chat.completion',
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Grüße 🌍' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2 },
}

function counted(pieces: readonly Uint8Array[], failure?: unknown) {
  const counts = { pulled: 0, cancelled: [] as unknown[] }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(to) {
        const piece = pieces[counts.pulled++]
        if (piece) to.enqueue(piece)
        else if (failure) to.error(failure)
        else to.close()
      },
      cancel: (reason) => void counts.cancelled.push(reason),
    },
    { highWaterMark: 0 },
  )
  return { counts, body }
}

/** Cuts bytes anywhere, even in the middle of characters. */
function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes.length > 0 ? sizes[turn % sizes.length]! : bytes.length
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

function watched(response: Response, options: object = {}) {
  const records: ModelCallRecord[] = []
  const observed = observeModelResponse(response, { ...options, onEnd: (record) => records.push(record) })
  return { observed, records }
}

const textIn = ({ outputs }: ModelCallRecord) =>
  (outputs.messages as { content: { text?: string }[] }[])[0]?.content.map(({ text }) => text).join('')

test('server-sent events are read, however the bytes are cut', async () => {
  const bytes = new TextEncoder().encode(EVENTS)
  const { events: _, ...whole } = convertModelCall({ response: WHOLE })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 5 }), async (sizes) => {
      const { body } = counted(cut(bytes, sizes))
      const { observed, records } = watched(new Response(body, { headers: SSE }))
      expect(new Uint8Array(await observed.arrayBuffer())).toEqual(bytes)
      expect(records).toHaveLength(1)
      const { events, ...record } = records[0]!
      expect(record).toEqual(whole)
      expect(events.map(({ name }) => name)).toEqual(['new_token'])
    }),
    { numRuns: 30 },
  )
})

test('the bytes are pulled on demand, and the response keeps its properties', async () => {
  const pieces = cut(new TextEncoder().encode(EVENTS), [20])
  const { counts, body } = counted(pieces)
  const { observed, records } = watched(new Response(body, { status: 201, statusText: 'Made', headers: SSE }))
  expect([observed.status, observed.statusText, observed.headers.get('x-request-id')]).toEqual([
    201,
    'Made',
    'r1',
  ])
  const reader = observed.body!.getReader()
  await Promise.resolve()
  expect(counts.pulled).toBe(0)
  expect((await reader.read()).value).toBe(pieces[0])
  expect(counts.pulled).toBe(1)
  expect((await reader.read()).value).toBe(pieces[1])
  expect(counts.pulled).toBe(2)
  await reader.cancel('enough')
  expect(counts.cancelled).toEqual(['enough'])
  expect(records.map(({ error }) => error)).toEqual([expect.stringContaining('Cancelled')])
})

test('a body that breaks off makes a failed record with the chunks so far', async () => {
  const pieces = cut(new TextEncoder().encode(EVENTS), [EVENTS.indexOf('🌍')])
  const failure = new TypeError('terminated')
  const { observed, records } = watched(
    new Response(counted(pieces.slice(0, 1), failure).body, { headers: SSE }),
  )
  await expect(observed.text()).rejects.toBe(failure)
  expect(records.map((record) => [textIn(record), record.error])).toEqual([
    ['Grüße ', 'TypeError: terminated'],
  ])
})

test('a failed call has no first token, and its body is its error', async () => {
  const error = JSON.stringify({ error: { message: 'slow down' } })
  const { observed, records } = watched(
    new Response(error, { status: 429, headers: { 'content-type': 'application/json' } }),
    { request: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] } },
  )
  expect(await observed.text()).toBe(error)
  expect(records[0]).toMatchObject({ error: `HTTP 429: ${error}`, events: [] })
  expect(records[0]!.inputs.messages).toHaveLength(1)
})

test('one JSON body is read', async () => {
  const { observed, records } = watched(Response.json(WHOLE))
  expect(await observed.json()).toEqual(WHOLE)
  expect(records).toEqual([convertModelCall({ response: WHOLE })])
})

test('lines of JSON are read, even if the last one has no line end', async () => {
  const lines = ['Hel', 'lo'].map((content) => ({
    model: 'llama',
    message: { role: 'assistant', content },
    done: false,
  }))
  const end = {
    model: 'llama',
    message: { role: 'assistant', content: '' },
    done: true,
    done_reason: 'stop',
    prompt_eval_count: 4,
    eval_count: 2,
  }
  const text = [...lines, end].map((line) => JSON.stringify(line)).join('\n')
  const { body } = counted(cut(new TextEncoder().encode(text), [7]))
  const { observed, records } = watched(
    new Response(body, { headers: { 'content-type': 'application/x-ndjson' } }),
  )
  expect(await observed.text()).toBe(text)
  expect(records.map(textIn)).toEqual(['Hello'])
})

describe('a body that cannot be read', () => {
  test('throws if it is an AWS event stream', () => {
    const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
    expect(() => observeModelResponse(new Response('', { headers }))).toThrow(TracingError)
    expect(() => observeModelResponse(new Response('', { headers }))).toThrow(/observeModelStream/)
  })

  test('passes on events that are no JSON', async () => {
    const { observed, records } = watched(new Response('data: not json\n\n', { headers: SSE }), {
      format: 'openaiChat',
    })
    expect(await observed.text()).toBe('data: not json\n\n')
    expect(JSON.stringify(records[0]!.outputs)).toContain('not json')
  })

  test('ends the record at once if it is missing', () => {
    const { records } = watched(new Response(null, { status: 204 }))
    expect(records).toHaveLength(1)
  })
})

test("the fetch of a provider's SDK can be observed", async () => {
  const records: ModelCallRecord[] = []
  const client = new OpenAI({
    apiKey: 'k',
    fetch: async (_, init) => {
      const request: unknown = JSON.parse(String(init?.body))
      return observeModelResponse(new Response(EVENTS, { headers: SSE }), {
        request,
        onEnd: (record) => records.push(record),
      })
    },
  })
  const stream = await client.chat.completions.create({
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
  })
  let text = ''
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
  expect(text).toBe('Grüße 🌍')
  expect(records.map(textIn)).toEqual(['Grüße 🌍'])
  expect(records[0]!.metadata).toMatchObject({
    ls_provider: 'openai',
    ls_invocation_params: { stream: true },
  })
})

describe('a content type that is wrong', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const types = [undefined, 'application/json', 'text/plain; charset=utf-8', 'Text/Event-Stream']

  test.each(types)('an event stream under %s is seen by its start, however it is cut', async (type) => {
    for (const start of ['', '\n', 'event: a\n', ': hello\n\n'])
      for (const sizes of [[1], [3], []]) {
        const { body } = counted(cut(bytes(start + EVENTS), sizes))
        const headers = new Headers(type === undefined ? [] : [['content-type', type]])
        const { observed, records } = watched(new Response(body, { headers }), { format: 'openaiChat' })
        await observed.text()
        expect(textIn(records[0]!)).toBe('Grüße 🌍')
      }
  })

  test('JSON under the type of an event stream is read whole', async () => {
    const { observed, records } = watched(new Response(JSON.stringify(WHOLE), { headers: SSE }))
    await observed.text()
    expect(textIn(records[0]!)).toBe('Grüße 🌍')
  })
})
