import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../kit/events.ts'
import { all, like, type Peer, peerOf, serveAgent } from './requirements/peer.ts'
import * as shapes from './requirements/shapes-v03.ts'

/** What A2A v0.3 demands of every server that speaks its JSON-RPC transport, asked over HTTP as a stranger would. */

const PAUSE_MS = 300

let served: Awaited<ReturnType<typeof serveAgent>>
let peer: Peer

beforeAll(async () => {
  served = await serveAgent(PAUSE_MS)
  peer = peerOf(`${served.origin}/a2a/tck`)
})
afterAll(() => served.close())

/** The agent asks after every message whose id does not begin with `tck-`. */
const asking = (): string => `test-message-id-${randomUUID()}`

const userMessage = (messageId: string, more: object = {}) => ({
  message: {
    kind: 'message',
    role: 'user',
    parts: [{ kind: 'text', text: 'Hello' }],
    messageId,
    ...more,
  },
})

async function result(method: string, params: unknown): Promise<Json> {
  const { body } = await peer.call(method, params)
  expect(body).not.toHaveProperty('error')
  return body.result
}

async function refusal(method: string, params: unknown): Promise<Json> {
  const { status, body } = await peer.call(method, params)
  expect(status).toBe(200)
  const answer: Json = shapes.answer.parse(body)
  expect(answer).not.toHaveProperty('result')
  return answer.error
}

const send = async (messageId: string, more?: object, configuration?: object): Promise<Json> =>
  shapes.sent.parse(await result('message/send', { ...userMessage(messageId, more), configuration }))

const streamOf = async (method: string, params: unknown): Promise<Json[]> => {
  const answers = await all(await peer.stream(method, params))
  return answers.map((answer) => shapes.streamed.parse((shapes.answer.parse(answer) as Json).result))
}

describe('the agent card', () => {
  const card = async (): Promise<Json> => (await fetch(`${peer.url}/.well-known/agent-card.json`)).json()

  test('is available without credentials and has every required field', async () => {
    shapes.card.parse(await card())
  })

  test('names the URL where the agent answers', async () => {
    const { url } = await card()
    expect((await peerOf(url).call('tasks/get', { id: 'none' })).body.error.code).toBe(-32001)
  })

  test('has nothing in it that looks like a secret', async () => {
    const text = JSON.stringify(await card())
    expect(text).not.toMatch(/api[_-]?key|secret|token|password|credential/i)
    expect(text).not.toMatch(/(internal|private|admin|debug|test).*(url|endpoint|host)/i)
  })
})

describe('JSON-RPC', () => {
  const code = async (body: string): Promise<number> => {
    const reply = await peer.post(body)
    expect(reply).toMatchObject({ status: 200, body: { jsonrpc: '2.0' } })
    return reply.body.error.code
  }

  test('a body that is no JSON is a parse error', async () => {
    expect(await code('{"jsonrpc": "2.0", "method": "message/send", "params": {"foo": "bar"}')).toBe(-32700)
  })

  test('a request needs the version 2.0, a method, and an id that is a string or a number', async () => {
    const request = { jsonrpc: '2.0', id: 1, method: 'message/send', params: userMessage(asking()) }
    for (const wrong of [
      { ...request, jsonrpc: '1.0' },
      { ...request, jsonrpc: undefined },
      { ...request, method: undefined },
      { ...request, method: 5 },
      { ...request, id: { bad: 'type' } },
    ])
      expect(await code(JSON.stringify(wrong))).toBe(-32600)
  })

  test('without an id, an unknown method and invalid params are told before the missing id', async () => {
    const without = (method: string, params: unknown) =>
      code(JSON.stringify({ jsonrpc: '2.0', method, params }))
    expect(await without('nonexistent/method', {})).toBe(-32601)
    expect(await without('message/send', { foo: 'bar' })).toBe(-32602)
    expect(await without('tasks/get', {})).toBe(-32602)
    for (const method of ['message/send', 'message/stream'])
      expect(await without(method, userMessage(asking()))).toBe(-32600)
  })

  test('an unknown method is not found, and its answer has the id of the request', async () => {
    const request = { jsonrpc: '2.0', id: 'here', method: 'nonexistent/method', params: {} }
    const { body } = await peer.post(JSON.stringify(request))
    expect(body).toMatchObject({ id: 'here', error: { code: -32601 } })
  })

  test('params that are not valid are refused', async () => {
    for (const params of [
      {},
      { message: { kind: 'message' } },
      { message: { ...userMessage(asking()).message, parts: 'invalid' } },
      { message: { ...userMessage(asking()).message, parts: [] } },
      { message: { ...userMessage(asking()).message, role: 'somebody' } },
      'not an object',
    ])
      expect((await refusal('message/send', params)).code).toBe(-32602)
    expect((await refusal('tasks/get', {})).code).toBe(-32602)
    expect((await refusal('tasks/get', { id: 12_345 })).code).toBe(-32602)
    expect((await refusal('tasks/cancel', {})).code).toBe(-32602)
  })

  test('two requests may have the same id', async () => {
    const request = (params: object) =>
      JSON.stringify({ jsonrpc: '2.0', id: 'twice', method: 'message/send', params })
    const one = await peer.post(request(userMessage(asking())))
    const other = await peer.post(request(userMessage(asking())))
    expect([one.body.id, other.body.id]).toEqual(['twice', 'twice'])
    expect(one.body.result.id).not.toBe(other.body.result.id)
  })

  test('fields of the envelope that are not known are ignored', async () => {
    const request = {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: userMessage(asking()),
      metadata: {},
    }
    const { body } = await peer.post(JSON.stringify(request))
    expect(body.result.kind).toBe('task')
  })
})

describe('message/send', () => {
  test('answers with a task', async () => {
    const task = await send(asking())
    expect(task).toMatchObject({ kind: 'task', status: { state: 'input-required' } })
    expect((await send(like('complete-task'))).status.state).toBe('completed')
  })

  test('answers with a message where the agent makes no task', async () => {
    const message = await send(like('message-response'))
    expect(message).toMatchObject({ kind: 'message', role: 'agent' })
  })

  test('continues a task, also with its context', async () => {
    const { id, contextId } = await send(asking())
    expect(await send(asking(), { taskId: id })).toMatchObject({ id, contextId })
    expect(await send(asking(), { taskId: id, contextId })).toMatchObject({ id, contextId })
  })

  test('refuses a message to a task that has ended, and to one that is unknown', async () => {
    const { id } = await send(like('complete-task'))
    expect((await refusal('message/send', userMessage(asking(), { taskId: id }))).code).toBe(-32004)
    const unknown = userMessage(asking(), { taskId: 'nonexistent-task-id' })
    expect((await refusal('message/send', unknown)).code).toBe(-32001)
  })

  test('waits for the end unless blocking is false', async () => {
    expect((await send(like('delayed-complete'), {}, { blocking: true })).status.state).toBe('completed')
    const task = await send(like('delayed-complete'), {}, { blocking: false })
    expect(['submitted', 'working']).toContain(task.status.state)
  })

  test('takes files, data and several parts in one message', async () => {
    const text = { kind: 'text', text: 'Hello' }
    const data = { kind: 'data', data: { key: 'value', nested: { array: [1, 2, 3] } } }
    const file = { name: 'a.txt', mimeType: 'text/plain' }
    const inline = { kind: 'file', file: { ...file, bytes: 'dGNr' } }
    const elsewhere = { kind: 'file', file: { ...file, uri: 'https://example.com/a.txt' } }
    for (const parts of [[data], [inline], [elsewhere], [text, inline, data]])
      expect((await send(asking(), { parts })).status.state).toBe('input-required')
  })

  test('refuses a media type that the agent does not read, in the words of the specification', async () => {
    const parts = [
      { kind: 'text', text: 'Hello' },
      { kind: 'file', file: { name: 'a', mimeType: 'application/x-unsupported', bytes: 'dGNr' } },
    ]
    const { code, message } = await refusal('message/send', userMessage(asking(), { parts }))
    expect(code).toBe(-32005)
    expect(message).toMatch(/incompatible content type.*not supported/i)
  })

  test('gives artifacts of every kind', async () => {
    const part = async (behaviour: string) => (await send(like(behaviour))).artifacts[0].parts[0]
    expect(await part('artifact-text')).toEqual({ kind: 'text', text: 'Generated text content' })
    expect(await part('artifact-file')).toMatchObject({
      kind: 'file',
      file: { name: 'output.txt', mimeType: 'text/plain', bytes: expect.any(String) },
    })
    expect((await part('artifact-file-url')).file.uri).toBe('https://example.com/output.txt')
    expect((await part('artifact-data')).data).toEqual({ key: 'value', count: 42 })
  })
})

describe('message/stream', () => {
  test('is a stream of events that begins with the task and ends with a final status', async () => {
    const stream = await peer.stream('message/stream', userMessage(like('stream-001')))
    expect(stream.contentType).toContain('text/event-stream')
    const items = (await all(stream)).map(({ result }) => shapes.streamed.parse(result) as Json)
    expect(items[0].kind).toBe('task')
    expect(items.at(-1)).toMatchObject({ kind: 'status-update', final: true, status: { state: 'completed' } })
    expect(items.filter(({ final }) => final)).toHaveLength(1)
  })

  test('ends with a final status where the task needs input', async () => {
    const items = await streamOf('message/stream', userMessage(asking()))
    expect(items.at(-1)).toMatchObject({ final: true, status: { state: 'input-required' } })
  })

  test('refuses params that are not valid', async () => {
    const [{ error }] = await all(await peer.stream('message/stream', { invalid: 'params' }))
    expect(error.code).toBe(-32602)
  })
})

describe('tasks/get', () => {
  test('gives the task', async () => {
    const { id } = await send(asking())
    const task: Json = shapes.task.parse(await result('tasks/get', { id }))
    expect(task).toMatchObject({ id, status: { state: 'input-required' } })
  })

  test('gives the newest messages of the history, at most historyLength', async () => {
    const { id } = await send(asking())
    for (let at = 0; at < 3; at++) await send(asking(), { taskId: id })
    const historyOf = async (historyLength?: number): Promise<Json[]> =>
      (await result('tasks/get', { id, historyLength })).history
    const whole = await historyOf()
    expect(whole.length).toBeGreaterThan(2)
    expect(await historyOf(2)).toEqual(whole.slice(-2))
    expect(await historyOf(1)).toEqual(whole.slice(-1))
  })

  test('refuses an unknown task', async () => {
    expect((await refusal('tasks/get', { id: 'nonexistent-task-id' })).code).toBe(-32001)
  })
})

describe('tasks/cancel', () => {
  test('cancels a task', async () => {
    const { id } = await send(asking(), {}, { blocking: false, acceptedOutputModes: ['text'] })
    const task: Json = shapes.task.parse(await result('tasks/cancel', { id }))
    expect(task).toMatchObject({ id, status: { state: 'canceled' } })
  })

  test('refuses a task that has ended', async () => {
    const { id } = await send(like('complete-task'))
    expect((await refusal('tasks/cancel', { id })).code).toBe(-32002)
  })

  test('refuses an unknown task', async () => {
    expect((await refusal('tasks/cancel', { id: 'nonexistent-task-id' })).code).toBe(-32001)
  })
})

describe('tasks/resubscribe', () => {
  test('gives the events of a task that is at work, up to its final status', async () => {
    const messageId = `test-resubscribe-message-id-${randomUUID()}`
    const first = await peer.stream('message/stream', userMessage(messageId))
    let items: Json[] = []
    for await (const { result: item } of first) {
      items = await streamOf('tasks/resubscribe', { id: item.id })
      break
    }
    first.leave()
    expect(items[0]).toMatchObject({ kind: 'task' })
    expect(items.at(-1)).toMatchObject({ final: true, status: { state: 'completed' } })
  })

  test('ends with a final status where the task needs input', async () => {
    const { id } = await send(asking())
    const items = await streamOf('tasks/resubscribe', { id })
    expect(items[0]).toMatchObject({ kind: 'task', id, status: { state: 'input-required' } })
    expect(items.at(-1)).toMatchObject({ final: true, status: { state: 'input-required' } })
  })

  test('refuses an unknown task', async () => {
    const [{ error }] = await all(await peer.stream('tasks/resubscribe', { id: 'nonexistent-task-id' }))
    expect(error.code).toBe(-32001)
  })
})

describe('agent/getAuthenticatedExtendedCard', () => {
  test('is refused where the card does not announce one', async () => {
    const card = await (await fetch(`${peer.url}/.well-known/agent-card.json`)).json()
    expect(card.supportsAuthenticatedExtendedCard ?? false).toBe(false)
    expect([-32004, -32007]).toContain((await refusal('agent/getAuthenticatedExtendedCard', {})).code)
  })
})
