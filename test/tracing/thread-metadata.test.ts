import { expect, test } from 'vitest'
import { threadMetadata } from '../../src/models/tracing/index.ts'

const rpc = (metadata?: unknown) => ({
  jsonrpc: '2.0',
  id: '1',
  method: 'message/send',
  params: {
    message: { role: 'user', parts: [{ kind: 'text', text: 'Hi' }], metadata: { thread_id: 'inner' } },
  },
  ...(metadata !== undefined && { metadata }),
})

function post(body: string | ReadableStream, headers: Record<string, string> = {}): Request {
  const init: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-mine': '1', ...headers },
    duplex: 'half',
  }
  return new Request('http://localhost/a2a/agent?x=1', init)
}

test('the thread is found, and the returned request is equal and unread', async () => {
  const text = JSON.stringify(rpc({ thread_id: 'thread-1', other: true }))
  const { threadId, attributes, request } = await threadMetadata(post(text))
  expect(threadId).toBe('thread-1')
  expect(attributes).toEqual({
    'langsmith.metadata.thread_id': 'thread-1',
    'gen_ai.conversation.id': 'thread-1',
  })
  expect([request.method, request.url, request.headers.get('x-mine'), request.bodyUsed]).toEqual([
    'POST',
    'http://localhost/a2a/agent?x=1',
    '1',
    false,
  ])
  expect(await request.text()).toBe(text)
})

test("the attribute starts with the vendor's name", async () => {
  const { attributes } = await threadMetadata(post(JSON.stringify(rpc({ thread_id: 't' }))), {
    vendor: 'acme',
  })
  expect(attributes).toHaveProperty(['acme.metadata.thread_id'], 't')
})

test('a request can be read twice', async () => {
  const first = await threadMetadata(post(JSON.stringify(rpc({ thread_id: 't' }))))
  const second = await threadMetadata(first.request)
  expect(second.threadId).toBe('t')
  expect(await second.request.json()).toEqual(rpc({ thread_id: 't' }))
})

test.each<[string, Request]>([
  ['no metadata', post(JSON.stringify(rpc()))],
  ['metadata that is none', post(JSON.stringify(rpc('t')))],
  ['an id that is no text', post(JSON.stringify(rpc({ thread_id: 7 })))],
  ['an empty id', post(JSON.stringify(rpc({ thread_id: '' })))],
  ['an endless id', post(JSON.stringify(rpc({ thread_id: 'x'.repeat(10_000) })))],
  ['no JSON', post('{"metadata":{"thread_id":"t"')],
  ['a list', post(JSON.stringify([rpc({ thread_id: 't' })]))],
  ['another type of body', post('metadata', { 'content-type': 'text/plain' })],
  ['a compressed body', post('xxxx', { 'content-encoding': 'gzip' })],
])('%s gives no thread and leaves the body readable', async (_, request) => {
  const before = await request.clone().text()
  const found = await threadMetadata(request)
  expect([found.threadId, found.attributes]).toEqual([undefined, {}])
  expect(await found.request.text()).toBe(before)
})

test('a GET has no thread', async () => {
  const request = new Request('http://localhost/')
  expect((await threadMetadata(request)).request).toBe(request)
})

test('a body that is too long is read only up to the limit, and stays readable', async () => {
  let pulled = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(to) {
      if (++pulled > 100) to.close()
      else to.enqueue(new Uint8Array(1000).fill(32))
    },
  })
  const { threadId, request } = await threadMetadata(post(endless), { maxBytes: 5_000 })
  expect(threadId).toBeUndefined()
  expect(pulled).toBeLessThan(12)
  expect((await request.arrayBuffer()).byteLength).toBe(100_000)
  const announced = post('x'.repeat(100), { 'content-length': '100' })
  expect((await threadMetadata(announced, { maxBytes: 50 })).request).toBe(announced)
})

test('a body that breaks off fails for its reader, not for threadMetadata', async () => {
  const broken = new ReadableStream<Uint8Array>({
    start(to) {
      to.enqueue(new TextEncoder().encode('{"meta'))
      to.error(new Error('cut'))
    },
  })
  const { threadId, request } = await threadMetadata(post(broken))
  expect(threadId).toBeUndefined()
  await expect(request.text()).rejects.toThrow('cut')
})
