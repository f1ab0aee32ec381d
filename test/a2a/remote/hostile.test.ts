import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { sleep } from '../../../src/core/time.ts'
import { type A2AAgentOptions, a2aAgent } from '../../../src/faces/a2a/remote/agent.ts'
import { A2ARemoteError, type RemoteErrorCode } from '../../../src/faces/a2a/remote/remote-error.ts'
import { ask, newThread, taskOf } from '../../agents/run.ts'
import type { Json } from '../../kit/events.ts'
import { listen } from '../../kit/listen.ts'
import { cardOf } from './server.ts'

type Answer = (request: Json, response: ServerResponse, raw: IncomingMessage) => void

/** A server with a card, whose every JSON-RPC request is answered by a function. */
async function hostile(
  answer: Answer,
  card: (origin: string) => unknown = (origin) => cardOf('1.0', origin),
) {
  const paths: string[] = []
  const bodies: Json[] = []
  const heads: IncomingMessage['headers'][] = []
  const server = createServer(async (request, response) => {
    paths.push(request.url!)
    heads.push(request.headers)
    if (request.url!.includes('.well-known')) {
      const given = card(origin)
      if (typeof given === 'function') return given(request, response)
      return response.end(JSON.stringify(given))
    }
    let text = ''
    for await (const chunk of request) text += chunk
    const body = JSON.parse(text)
    bodies.push(body)
    answer(body, response, request)
  })
  const origin = `http://127.0.0.1:${await listen(server)}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin, paths, bodies, heads }
}

const sse = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
const event = (id: unknown, result: unknown) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`
const result = (response: ServerResponse, id: unknown, value: unknown) =>
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ jsonrpc: '2.0', id, result: value }))
const task = (state = 'TASK_STATE_WORKING', more = {}) => ({
  task: { id: 't', contextId: 'c', status: { state }, ...more },
})
const chunk = (text: string, more = {}) => ({
  artifactUpdate: {
    taskId: 't',
    contextId: 'c',
    artifact: { artifactId: 'a', parts: [{ text }] },
    append: true,
    ...more,
  },
})

async function refused(url: string, options: Partial<A2AAgentOptions> = {}): Promise<A2ARemoteError> {
  const asked = a2aAgent({ url, timeoutMs: 3_000, ...options } as A2AAgentOptions).ask({ message: 'hi' })
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(A2ARemoteError)
  return error as A2ARemoteError
}

const never: Answer = () => expect.unreachable()

const html = (status: number) => (_: unknown, response: ServerResponse) =>
  response.writeHead(status, { 'content-type': 'text/html' }).end('<html>no</html>')

test.each<[what: string, card: (origin: string) => unknown, code: RemoteErrorCode, text: RegExp]>([
  ['is missing', () => html(404), 'invalid_card', /agent-card\.json or http.*agent\.json/],
  ['is HTML', () => html(200), 'invalid_card', /not a JSON object/],
  ['is a list', () => [], 'invalid_card', /not a JSON object/],
  ['needs credentials', () => html(401), 'unauthorized', /headers/],
  ['is on a server that fails', () => html(502), 'unreachable', /502/],
  [
    'names another origin',
    () => cardOf('1.0', 'http://127.0.0.1:1'),
    'invalid_card',
    /names http:\/\/127.0.0.1:1/,
  ],
  ['names another scheme', () => cardOf('0.3', 'file://'), 'invalid_card', /not an http URL/],
  ['names no address', () => ({ ...cardOf('0.3', ''), url: 7 }), 'invalid_card', /no JSON-RPC interface/],
  [
    'names only other bindings',
    (origin) => ({ supportedInterfaces: [{ url: origin, protocolBinding: 'GRPC', protocolVersion: '1.0' }] }),
    'invalid_card',
    /no JSON-RPC interface/,
  ],
  [
    'names only another version',
    (origin) => ({
      supportedInterfaces: [{ url: origin, protocolBinding: 'JSONRPC', protocolVersion: '2.0' }],
    }),
    'invalid_card',
    /A2A 1.0 or 0.3/,
  ],
])('a card that %s is an error that says so', async (_, card, code, text) => {
  const { origin } = await hostile(never, card)
  expect(await refused(origin)).toMatchObject({ code, message: expect.stringMatching(text) })
})

test('an address that is none, and one where nobody is', async () => {
  expect(() => a2aAgent({ url: 'weather' })).toThrow('not an http URL')
  expect(await refused('http://127.0.0.1:1')).toMatchObject({ code: 'unreachable' })
})

test.each<[what: string, answer: Answer, code: RemoteErrorCode, text: RegExp]>([
  ['401', html(401), 'unauthorized', /401/],
  ['HTML with 200', html(200), 'invalid_answer', /text\/html/],
  ['HTML with 500', html(500), 'unreachable', /500/],
  ['HTML with 404', html(404), 'invalid_answer', /404/],
  ['nothing', (_, response) => response.socket!.destroy(), 'unreachable', /reached/],
  ['an empty stream', (_, response) => sse(response).end(), 'invalid_answer', /without a task/],
  ['silence', () => {}, 'unreachable', /silent for 3000 ms/],
  ['a silent stream', (_, response) => sse(response).write(': hi\n\n'), 'unreachable', /silent/],
  [
    'an event that is no JSON',
    (_, response) => sse(response).end('data: {\n\n'),
    'invalid_answer',
    /not a JSON-RPC response/,
  ],
  ['another id', ({ id }, response) => sse(response).end(event(id + 1, task())), 'invalid_answer', /the id/],
  [
    'an id as text',
    ({ id }, response) => sse(response).end(event(`${id}`, task())),
    'invalid_answer',
    /the id/,
  ],
  [
    'no result',
    ({ id }, response) => sse(response).end(`data: {"id":${id}}\n\n`),
    'invalid_answer',
    /not a JSON-RPC response/,
  ],
  [
    'null',
    ({ id }, response) => sse(response).end(event(id, null)),
    'invalid_answer',
    /result: expected an object/,
  ],
  [
    'a task without an id',
    ({ id }, response) => sse(response).end(event(id, { task: { status: { state: 'working' } } })),
    'invalid_answer',
    /result.task.id/,
  ],
  [
    'a state that does not exist',
    ({ id }, response) => sse(response).end(event(id, task('dancing'))),
    'invalid_answer',
    /result.task.status.state: expected one of/,
  ],
  [
    'base64 that is none',
    ({ id }, response) =>
      sse(response).end(
        event(id, { message: { role: 'agent', parts: [{ raw: '***', mediaType: 'image/png' }] } }),
      ),
    'invalid_answer',
    /parts.0.raw: expected base64/,
  ],
  [
    'an event of another task',
    ({ id }, response) =>
      sse(response).end(
        event(id, task()) +
          event(id, { ...chunk('x'), artifactUpdate: { ...chunk('x').artifactUpdate, taskId: 'u' } }),
      ),
    'invalid_answer',
    /task "u" instead of "t"/,
  ],
  [
    'JSON that is too deep',
    ({ id }, response) =>
      sse(response).end(`data: {"id":${id},"result":${'['.repeat(50_000)}${']'.repeat(50_000)}}\n\n`),
    'invalid_answer',
    /not a JSON-RPC response/,
  ],
  [
    'a JSON-RPC error',
    ({ id }, response) =>
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'bad '.repeat(1_000) } }),
      ),
    'refused',
    /^The remote agent rejected the request \(-32602\): bad/,
  ],
  [
    'a JSON-RPC error with a status',
    (_, response) => {
      response.statusCode = 400
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no' } }))
    },
    'refused',
    /-32600/,
  ],
  [
    'one event of 17 MiB',
    (_, response) => sse(response).end(`data: ${'x'.repeat(17 * 1024 * 1024)}`),
    'too_large',
    /more than/,
  ],
  [
    'chunks without end',
    async ({ id }, response) => {
      sse(response).write(event(id, task()))
      const text = event(id, chunk('x'.repeat(1024 * 1024)))
      while (!response.destroyed)
        if (!response.write(text))
          await new Promise((done) => response.once('drain', done).once('close', done))
    },
    'too_large',
    /more than/,
  ],
])('a server that answers %s is an error that says so', async (_, answer, code, text) => {
  const { origin } = await hostile(answer)
  const error = await refused(origin)
  expect(error).toMatchObject({ code, message: expect.stringMatching(text) })
  expect(error.message.length).toBeLessThan(2_200)
})

test('credentials follow a redirect within the origin, and no other', async () => {
  const other = await hostile(never)
  let target = ''
  const { origin, heads } = await hostile(({ id }, response, { url }) => {
    if (url === '/rpc') return response.writeHead(307, { location: target }).end()
    sse(response).end(event(id, { message: { role: 'ROLE_AGENT', parts: [{ text: 'moved' }] } }))
  })
  let made = 0
  const headers = () => ({ authorization: `Bearer ${++made}` })
  target = '/rpc2'
  expect(await a2aAgent({ url: origin, headers }).ask({ message: 'hi' })).toMatchObject({ text: 'moved' })
  expect(heads.map(({ authorization }) => authorization)).toEqual(['Bearer 1', 'Bearer 2', 'Bearer 3'])
  target = `${other.origin}/rpc`
  expect(await refused(origin, { headers })).toMatchObject({ code: 'invalid_answer', message: /Credentials/ })
  target = '/rpc'
  expect(await refused(origin)).toMatchObject({ code: 'invalid_answer' })
  expect(other.paths).toEqual([])
})

test('a remote whose connections all break is given up, and the task is not sent again', async () => {
  const { origin, bodies } = await hostile(({ id, method }, response) => {
    if (method !== 'SendStreamingMessage') return response.socket!.destroy()
    sse(response).write(event(id, task()), () => response.socket!.destroy())
  })
  // Without the waits between two tries.
  const real = globalThis.setTimeout
  globalThis.setTimeout = ((work: () => void, ms: number) =>
    real(work, ms > 20_000 ? ms : ms / 100)) as typeof setTimeout
  onTestFinished(() => void (globalThis.setTimeout = real))
  expect(await refused(origin, { timeoutMs: 60_000 })).toMatchObject({ code: 'unreachable' })
  const methods = bodies.map(({ method }) => method)
  expect(methods.filter((method) => method === 'SendStreamingMessage')).toHaveLength(1)
  expect(methods.slice(1)).toEqual(Array(8).fill('GetTask'))
})

test('a reader that takes its time is not taken for a remote that is silent', async () => {
  const piece = 'x'.repeat(10_000)
  const { origin, bodies } = await hostile(({ id }, response) => {
    sse(response).write(event(id, task()))
    for (let at = 0; at < 300; at++) response.write(event(id, chunk(piece)))
    response.end(
      event(id, { statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } }),
    )
  })
  const agent = a2aAgent({ url: origin, timeoutMs: 1_000 })
  let length = 0
  for await (const { method, data } of agent.stream(taskOf(newThread(), ask))) {
    const { delta } = data as { delta?: { text?: string } }
    if (method !== 'messages' || !delta?.text) continue
    if (length === 0) await sleep(1_500)
    length += delta.text.length
  }
  expect(length).toBe(300 * piece.length)
  expect(bodies).toHaveLength(1)
})

test('flat events and words of v0.3 are understood behind methods of v1.0, as LangGraph has them', async () => {
  const place = { taskId: 't', contextId: 'c' }
  const said = (text: string) => ({
    kind: 'message',
    role: 'agent',
    messageId: 'm',
    parts: [{ kind: 'text', text }],
  })
  const { origin, bodies } = await hostile(({ id }, response) => {
    sse(response)
    for (const one of [
      { kind: 'task', id: 't', contextId: 'c', status: { state: 'submitted' }, history: [] },
      { kind: 'status-update', ...place, status: { state: 'working', message: said('Su') }, final: false },
      { kind: 'status-update', ...place, status: { state: 'working', message: said('Sunny') }, final: false },
      {
        kind: 'artifact-update',
        ...place,
        artifact: { artifactId: 'a', name: 'Assistant Response', parts: [{ kind: 'text', text: 'Sunny' }] },
      },
      { kind: 'status-update', ...place, status: { state: 'completed' }, final: true },
    ])
      response.write(event(id, one))
    response.end()
  })
  const reply = await a2aAgent({ url: origin }).ask({ message: 'weather' })
  expect(reply).toMatchObject({ text: 'Sunny', link: { taskId: 't', contextId: 'c', state: 'completed' } })
  expect(bodies.map(({ method }) => method)).toEqual(['SendStreamingMessage'])
})

test('an answer that only the history of the task has, and a task without its wrapper', async () => {
  const history = [
    { role: 'ROLE_USER', messageId: '1', parts: [{ text: 'hi' }] },
    { role: 'ROLE_AGENT', messageId: '2', parts: [{ text: 'from the history' }] },
  ]
  const { origin } = await hostile(({ id }, response) =>
    result(response, id, task('TASK_STATE_COMPLETED', { history }).task),
  )
  expect(await a2aAgent({ url: origin }).ask({ message: 'hi' })).toMatchObject({ text: 'from the history' })
})

const hello: Answer = ({ id }, response) =>
  sse(response).end(event(id, { message: { role: 'ROLE_AGENT', parts: [{ text: 'hello' }] } }))

test('a card is found with the query of its address, at its own address, and at the older one', async () => {
  const { origin, paths } = await hostile(
    hello,
    (origin) => (request: IncomingMessage, response: ServerResponse) => {
      if (request.url!.includes('agent-card')) return response.writeHead(404).end()
      response.end(JSON.stringify(cardOf('0.3', origin)))
    },
  )
  await a2aAgent({ url: `${origin}/?assistant_id=x` }).ask({ message: 'hi' })
  await a2aAgent({ url: `${origin}/a/.well-known/agent.json` }).ask({ message: 'hi' })
  await a2aAgent({ url: `${origin}/a2a/x/` }).ask({ message: 'hi' })
  expect(paths.filter((path) => path !== '/rpc')).toEqual([
    '/.well-known/agent-card.json?assistant_id=x',
    '/.well-known/agent.json?assistant_id=x',
    '/a/.well-known/agent.json',
    '/a2a/x/.well-known/agent-card.json',
    '/a2a/x/.well-known/agent.json',
  ])
})

test('a card is read again when its time is over, only in whole if it has changed, and an old one is better than none', async () => {
  let down = false
  const { origin, paths, heads } = await hostile(
    hello,
    (origin) => (request: IncomingMessage, response: ServerResponse) => {
      if (down) return response.writeHead(503).end()
      const headers = { etag: '"1"', 'cache-control': 'no-cache' }
      if (request.headers['if-none-match'] === '"1"') return response.writeHead(304, headers).end()
      response.writeHead(200, headers).end(JSON.stringify(cardOf('1.0', origin)))
    },
  )
  const agent = a2aAgent({ url: origin })
  for (down of [false, false, true]) await agent.ask({ message: 'hi' })
  expect(paths.filter((path) => path.includes('card'))).toHaveLength(3)
  expect(heads.map((headers) => headers['if-none-match'])).toEqual([
    undefined,
    undefined,
    '"1"',
    undefined,
    '"1"',
    undefined,
  ])
})

test('a card is read once while it is fresh, and a given one is not read', async () => {
  const { origin, paths } = await hostile(hello)
  const agent = a2aAgent({ url: origin })
  await agent.ask({ message: 'hi' })
  await agent.ask({ message: 'hi' })
  expect(paths).toEqual(['/.well-known/agent-card.json', '/rpc', '/rpc'])
  const card = {
    ...cardOf('1.0', origin),
    supportedInterfaces: [
      { url: `${origin}/old`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0.1', tenant: 'acme' },
    ],
  }
  const given = await hostile(hello)
  await a2aAgent({ card }).ask({ message: 'hi' })
  expect(paths).toHaveLength(4)
  expect(given.paths).toEqual([])
})
