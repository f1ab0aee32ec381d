import { expect, test } from 'vitest'
import { SSE_HEADERS } from '../../../src/core/http/index.ts'
import { A2AError } from '../../../src/faces/a2a/errors.ts'
import type { StreamEntry } from '../../../src/faces/a2a/model.ts'
import type { A2ACall } from '../../../src/faces/a2a/operations/operations.ts'
import { eventually, gate, turns } from '../../kit/wait.ts'
import {
  entry,
  eventsOf,
  request,
  serve,
  TASK,
  URL_OF_AGENT,
  V1_MESSAGE,
  V03_MESSAGE,
} from '../fake-operations.ts'

const SEND = request('SendStreamingMessage', { message: V1_MESSAGE }, 'r')
const SEND_03 = request('message/stream', { message: V03_MESSAGE }, 0)

const streamed = (body: unknown, signal?: AbortSignal) =>
  new Request(URL_OF_AGENT, { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) })

test('every event is a whole response with the id of the request, and the stream ends by itself', async () => {
  const { post } = serve()
  const { response, text } = await post(SEND)
  expect(response.status).toBe(200)
  for (const [name, value] of Object.entries(SSE_HEADERS)) expect(response.headers.get(name)).toBe(value)
  const status = { state: 'TASK_STATE_WORKING', timestamp: TASK.status.timestamp }
  const said = (id: string, words: string) => ({
    messageId: `m${id}`,
    role: 'ROLE_AGENT',
    parts: [{ text: words }],
  })
  const task = { taskId: 't1', contextId: 'c1' }
  const envelope = { jsonrpc: '2.0', id: 'r' }
  expect(eventsOf(text)).toEqual([
    { id: '1', data: { ...envelope, result: { task: { id: 't1', contextId: 'c1', status } } } },
    {
      id: '2',
      data: {
        ...envelope,
        result: { statusUpdate: { ...task, status: { ...status, message: said('2', 'hi') } } },
      },
    },
    {
      id: '3',
      data: {
        ...envelope,
        result: {
          statusUpdate: {
            ...task,
            status: { ...status, state: 'TASK_STATE_COMPLETED', message: said('3', 'done') },
          },
        },
      },
    },
  ])
  const old = eventsOf((await post(SEND_03)).text)
  expect(old.map(({ data }) => [data.id, data.result.kind, data.result.final])).toEqual([
    [0, 'task', undefined],
    [0, 'status-update', false],
    [0, 'status-update', true],
  ])
})

test('a stream may go on after an event, whose id the client sends', async () => {
  const { post, asked } = serve()
  const body = request('SubscribeToTask', { id: 't1' })
  const { text } = await post(body, { headers: { 'last-event-id': '41' } })
  expect(eventsOf(text)).toHaveLength(2)
  expect(asked).toMatchObject([
    { operation: 'subscribe', request: { id: 't1' }, call: { lastEventId: '41' } },
  ])
})

test('text cannot break out of its event', async () => {
  const evil =
    'a\r\n\r\ndata: {"jsonrpc":"2.0","id":"r","result":{}}\n\nid: 9\nb\rc\u0085d\u2028e\u2029f\u0000g'
  const { post } = serve({
    async *stream() {
      yield entry('1', evil)
      yield entry('2', 'end', true)
    },
  })
  const { text } = await post({ ...SEND, id: 'r\n\u2028' })
  const events = eventsOf(text)
  expect(events.map(({ id }) => id)).toEqual(['1', '2'])
  expect(events[0]!.data.id).toBe('r\n\u2028')
  expect(events[0]!.data.result.statusUpdate.status.message.parts).toEqual([{ text: evil }])
  expect(text).not.toMatch(/[\r\u0085\u2028\u2029\0]/)
  expect(text.split('\n').filter((line) => line.startsWith('data:'))).toHaveLength(2)
})

test('an event id that would break its frame is a failure of the server, told as the last event', async () => {
  const { post, reported } = serve({
    async *stream() {
      yield entry('1', 'a')
      yield entry('2\ndata: x', 'b')
      yield entry('3', 'c')
    },
  })
  const { text } = await post(SEND)
  expect(eventsOf(text).map(({ data }) => data.error?.code)).toEqual([undefined, -32603])
  expect(reported).toHaveLength(1)
})

test('entries that come together are sent together, and long ones in several chunks', async () => {
  const long = 'x'.repeat(40_000)
  const { server } = serve({
    async *stream() {
      yield [entry('1', 'a'), entry('2', 'b')]
      yield []
      yield ['3', '4', '5'].map((id) => entry(id, long, id === '5'))
    },
  })
  const { body } = await server.fetch(streamed(SEND))
  const chunks: (string | undefined)[][] = []
  for await (const bytes of body as unknown as AsyncIterable<Uint8Array>)
    chunks.push(eventsOf(new TextDecoder().decode(bytes)).map(({ id }) => id))
  expect(chunks.filter((ids) => ids.length > 0)).toEqual([['1', '2'], ['3', '4'], ['5']])
})

test('what came before a failure in the middle of a batch is sent', async () => {
  const { post } = serve({
    async *stream() {
      yield [entry('1', 'a'), entry('2\n', 'b'), entry('3', 'c')]
    },
  })
  const { text } = await post(SEND)
  expect(eventsOf(text).map(({ id, data }) => [id, data.error?.code])).toEqual([
    ['1', undefined],
    [undefined, -32603],
  ])
})

const notFound = () => new A2AError('task_not_found', 'Task not found.', { taskId: 't1' })

const refusing = {
  // biome-ignore lint/correctness/useYield: it fails before its first entry
  async *stream(): AsyncIterable<StreamEntry> {
    throw notFound()
  },
  // biome-ignore lint/correctness/useYield: it fails before its first entry
  async *subscribe(): AsyncIterable<StreamEntry> {
    throw notFound()
  },
}

test('an error before the first entry is a plain answer', async () => {
  const { post, refused } = serve(refusing)
  for (const body of [SEND, request('SubscribeToTask', { id: 't1' }, 'r'), SEND_03]) {
    const { status, body: answer } = await post(body)
    expect([status, answer.id, answer.error.code]).toEqual([200, body.id, -32001])
  }
  expect(refused).toHaveLength(3)
})

test('clients of v0.3, which know no version, are told it as an event, because they read nothing else', async () => {
  const { post, refused } = serve(refusing)
  const headers = { accept: 'text/event-stream' }
  for (const [body, code] of [
    [SEND_03, -32001],
    [request('tasks/resubscribe', { id: 't1' }, 0), -32001],
    [request('tasks/resubscribe', {}, 0), -32602],
  ] as const) {
    const { response, text } = await post(body, { headers })
    expect(response.headers.get('content-type')).toBe(SSE_HEADERS['content-type'])
    expect(eventsOf(text)).toMatchObject([{ data: { jsonrpc: '2.0', id: 0, error: { code } } }])
    const later = await post(body, { headers: { ...headers, 'a2a-version': '0.3' } })
    expect(later.body.error.code).toBe(code)
  }
  expect((await post(SEND, { headers })).body.error.code).toBe(-32001)
  expect((await post(request('tasks/get', {}), { headers })).body.error.code).toBe(-32602)
  expect(refused).toHaveLength(8)
})

test('an error in the middle is the last event, and an unknown one is reported', async () => {
  for (const [error, code, reports] of [
    [notFound(), -32001, 0],
    [new Error('postgres://user:secret@host'), -32603, 1],
  ] as const) {
    const { post, reported } = serve({
      async *stream() {
        yield entry('1', 'a')
        throw error
      },
    })
    const { text } = await post(SEND)
    const events = eventsOf(text)
    expect(events).toHaveLength(2)
    expect(events[1]!.data).toMatchObject({ jsonrpc: '2.0', id: 'r', error: { code } })
    expect(text).not.toContain('secret')
    expect(reported).toHaveLength(reports)
  }
})

test('nothing is read ahead of the client, and a client that leaves ends the reading', async () => {
  let read = 0
  let ended = false
  let signal: AbortSignal | undefined
  const { server } = serve({
    async *stream(call) {
      signal = call.call.signal
      try {
        for (;;) yield entry(String(++read), 'x'.repeat(1_000))
      } finally {
        ended = true
      }
    },
  })
  const response = await server.fetch(streamed(SEND))
  const reader = response.body!.getReader()
  await reader.read()
  await reader.read()
  await reader.read()
  expect(read).toBeLessThanOrEqual(3)
  expect([ended, signal!.aborted]).toEqual([false, false])
  await reader.cancel()
  await eventually(() => ended)
  expect(signal!.aborted).toBe(true)
  expect(read).toBeLessThanOrEqual(3)
})

test('a client that leaves while nothing happens is seen by the operation, by either way to leave', async () => {
  for (const leave of ['cancel', 'abort'] as const) {
    const [waiting, left] = [gate(), gate()]
    const client = new AbortController()
    const { server, reported, refused } = serve({
      async *stream(call) {
        yield entry('1', 'a')
        const { signal } = call.call
        waiting.open()
        await new Promise((resolve) => signal!.addEventListener('abort', resolve))
        left.open()
        signal!.throwIfAborted()
      },
    })
    const response = await server.fetch(streamed(SEND, client.signal))
    const reader = response.body!.getReader()
    await reader.read()
    await reader.read()
    const pending = reader.read().catch(() => {})
    await waiting.opened
    if (leave === 'cancel') await reader.cancel()
    else client.abort()
    await Promise.all([left.opened, pending])
    await turns(3)
    expect([reported, refused]).toEqual([[], []])
  }
})

test('a client that leaves before the first entry, or before an answer, is seen by the operation and is no failure', async () => {
  for (const body of [SEND, request('SendMessage', { message: V1_MESSAGE })]) {
    const begun = gate()
    const client = new AbortController()
    const untilLeft = async ({ call: { signal } }: A2ACall): Promise<never> => {
      begun.open()
      await new Promise((resolve) => signal!.addEventListener('abort', resolve))
      throw signal!.reason
    }
    const { server, reported, refused } = serve({
      send: untilLeft,
      // biome-ignore lint/correctness/useYield: it fails before its first entry
      async *stream(call) {
        await untilLeft(call)
      },
    })
    const response = server.fetch(streamed(body, client.signal))
    await begun.opened
    client.abort()
    expect([(await response).status, reported, refused]).toEqual([499, [], []])
  }
})
