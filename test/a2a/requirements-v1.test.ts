import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../kit/events.ts'
import { all, like, type Peer, peerOf, serveAgent } from './requirements/peer.ts'
import * as shapes from './requirements/shapes-v1.ts'

/** What A2A v1.0 demands of every server that speaks its JSON-RPC binding, asked over HTTP as a stranger would. */

const PAUSE_MS = 300
const TERMINAL = ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'].map((state) => `TASK_STATE_${state}`)

let served: Awaited<ReturnType<typeof serveAgent>>
let peer: Peer
let cardUrl: string

beforeAll(async () => {
  served = await serveAgent(PAUSE_MS)
  peer = peerOf(`${served.origin}/a2a/tck`, { 'a2a-version': '1.0' })
  cardUrl = `${peer.url}/.well-known/agent-card.json`
})
afterAll(() => served.close())

const userMessage = (messageId: string, more: object = {}) => ({
  message: { role: 'ROLE_USER', parts: [{ text: 'Hello' }], messageId, ...more },
})

async function result(method: string, params: unknown): Promise<Json> {
  const { body } = await peer.call(method, params)
  expect(body).not.toHaveProperty('error')
  return body.result
}

async function refusal(method: string, params: unknown): Promise<Json> {
  const { body } = await peer.call(method, params)
  expect(body).not.toHaveProperty('result')
  return shapes.error.parse(body.error)
}

const sendMessage = async (messageId: string, more?: object, configuration?: object): Promise<Json> =>
  shapes.sent.parse(await result('SendMessage', { ...userMessage(messageId, more), configuration }))

const newTask = async (behaviour: string, more?: object, configuration?: object): Promise<Json> => {
  const { task } = await sendMessage(like(behaviour), more, configuration)
  return task
}

const stateOf = (task: Json): string => task.status.state
const firstPart = (task: Json): Json => task.artifacts[0].parts[0]

async function streamOf(behaviour: string): Promise<Json[]> {
  const answers = await all(await peer.stream('SendStreamingMessage', userMessage(like(behaviour))))
  return answers.map((answer) => shapes.streamed.parse((shapes.answer.parse(answer) as Json).result))
}

const statesOf = (items: readonly Json[]): string[] =>
  items.map(({ task, statusUpdate }) => (task ?? statusUpdate)?.status.state).filter(Boolean)

describe('the agent card', () => {
  test('is available without credentials and has every required field', async () => {
    const response = await fetch(cardUrl)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('application/json')
    shapes.card.parse(await response.json())
  })

  test('declares the transport, the version and the URL of each interface as they are', async () => {
    const { supportedInterfaces } = await (await fetch(cardUrl)).json()
    const own = supportedInterfaces.find(({ protocolVersion }: Json) => protocolVersion === '1.0')
    expect(own).toMatchObject({ protocolBinding: 'JSONRPC', url: peer.url })
    const { body } = await peerOf(own.url, { 'a2a-version': '1.0' }).call('GetTask', { id: 'none' })
    expect(body.error.code).toBe(-32001)
  })

  test('has no other fields for a client that names version 1.0', async () => {
    const response = await fetch(cardUrl, { headers: { 'a2a-version': '1.0' } })
    shapes.card.strict().parse(await response.json())
  })

  test('prefers JSON-RPC of version 1.0', async () => {
    const { supportedInterfaces } = await (await fetch(cardUrl)).json()
    expect(supportedInterfaces[0]).toMatchObject({ protocolBinding: 'JSONRPC', protocolVersion: '1.0' })
  })

  test('tells how long it may be cached and which version of it it is', async () => {
    const { headers } = await fetch(cardUrl)
    expect(headers.get('cache-control')).toMatch(/max-age=\d+/)
    const etag = headers.get('etag')!
    expect((await fetch(cardUrl, { headers: { 'if-none-match': etag } })).status).toBe(304)
  })
})

describe('SendMessage', () => {
  test('answers with a task', async () => {
    const task = await newTask('complete-task')
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED')
  })

  test('answers with a message where the agent makes no task', async () => {
    const { message } = await sendMessage(like('message-response'))
    expect(message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'Direct message response' }] })
  })

  test('refuses a message to a task in a terminal state', async () => {
    for (const behaviour of ['complete-task', 'reject-task', 'task-failure']) {
      const { id } = await newTask(behaviour)
      const { code } = await refusal('SendMessage', userMessage(like('terminal'), { taskId: id }))
      expect(code).toBe(-32004)
    }
  })

  test('refuses a media type that the agent does not read', async () => {
    const parts = [{ raw: 'dGNr', mediaType: 'application/x-unsupported' }]
    const { code } = await refusal('SendMessage', userMessage(like('complete-task'), { parts }))
    expect(code).toBe(-32005)
  })

  test('waits for a terminal state by default and where returnImmediately is false', async () => {
    for (const configuration of [undefined, {}, { returnImmediately: false }]) {
      const task = await newTask('delayed-complete', {}, configuration)
      expect(stateOf(task)).toBe('TASK_STATE_COMPLETED')
    }
  })

  test('waits until the task needs input', async () => {
    expect(stateOf(await newTask('input-required'))).toBe('TASK_STATE_INPUT_REQUIRED')
  })

  test('waits until the task needs the client to authorize something, which a task tracks', async () => {
    const { id, status } = await newTask('auth-required')
    expect(status.state).toBe('TASK_STATE_AUTH_REQUIRED')
    expect(status.message.parts).toEqual([{ text: 'Sign in at https://example.com first.' }])
    expect(stateOf(await result('GetTask', { id }))).toBe('TASK_STATE_AUTH_REQUIRED')
    const { tasks } = await result('ListTasks', { status: 'TASK_STATE_AUTH_REQUIRED' })
    expect(tasks.map((task: Json) => task.id)).toEqual([id])
    expect(stateOf(await newTask('complete-task', { taskId: id }))).toBe('TASK_STATE_COMPLETED')
  })

  test('answers at once where returnImmediately is true, and the task goes on', async () => {
    const task = await newTask('delayed-complete', {}, { returnImmediately: true })
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(stateOf(task))
    while (!TERMINAL.includes(stateOf(await result('GetTask', { id: task.id })))) await sleep(20)
    expect(stateOf(await result('GetTask', { id: task.id }))).toBe('TASK_STATE_COMPLETED')
  })

  test('continues a task that needs input, and waits for its end', async () => {
    const { id, contextId } = await newTask('input-required')
    const task = await newTask('complete-task', { taskId: id })
    expect(task).toMatchObject({ id, contextId, status: { state: 'TASK_STATE_COMPLETED' } })
  })

  test('ends as failed where the agent fails, and as rejected where the agent refuses', async () => {
    expect(stateOf(await newTask('task-failure'))).toBe('TASK_STATE_FAILED')
    expect(stateOf(await newTask('reject-task'))).toBe('TASK_STATE_REJECTED')
  })

  test('ignores fields that it does not know', async () => {
    const params = { ...userMessage(like('complete-task'), { unknownField: 'a' }), extraParam: 42 }
    expect(stateOf((await result('SendMessage', params)).task)).toBe('TASK_STATE_COMPLETED')
  })
})

describe('contexts and task ids', () => {
  test('a context id that the server made is in the answer', async () => {
    expect((await newTask('complete-task')).contextId).toBeTruthy()
    expect((await sendMessage(like('message-response'))).message.contextId).toBeTruthy()
  })

  test('a context id of the client is kept and never replaced', async () => {
    const contextId = `my-context-${randomUUID()}`
    expect((await newTask('complete-task', { contextId })).contextId).toBe(contextId)
    const unusual = `a context/with ${'"quotes"'} & more ${randomUUID()}`
    expect((await newTask('complete-task', { contextId: unusual })).contextId).toBe(unusual)
  })

  test('every task has an id of its own, made by the server', async () => {
    const messageId = like('complete-task')
    const ids = [await sendMessage(messageId), await sendMessage(messageId)].map(({ task }) => task.id)
    expect(new Set(ids).size).toBe(2)
  })

  test('a message that names an unknown task is refused', async () => {
    const params = userMessage(like('multi'), { taskId: 'tck-nonexistent' })
    expect((await refusal('SendMessage', params)).code).toBe(-32001)
  })

  test('the context of a task is inferred where a message names only the task', async () => {
    const { id, contextId } = await newTask('input-required')
    const task = await newTask('infer-ctx', { taskId: id })
    expect(task).toMatchObject({ id, contextId })
  })

  test('a context that is not that of the task is refused', async () => {
    const { id } = await newTask('input-required')
    const other = await newTask('complete-task')
    for (const contextId of [`wrong-${randomUUID()}`, other.contextId]) {
      const params = userMessage(like('mismatch'), { taskId: id, contextId })
      expect((await refusal('SendMessage', params)).code).toBe(-32602)
    }
    const ended = userMessage(like('mismatch'), { taskId: other.id, contextId: `wrong-${randomUUID()}` })
    expect([-32602, -32004]).toContain((await refusal('SendMessage', ended)).code)
  })
})

describe('artifacts', () => {
  test('a text is an artifact with a text part', async () => {
    expect(firstPart(await newTask('artifact-text'))).toEqual({ text: 'Generated text content' })
  })

  test('a file is an artifact with its bytes, its name and its media type', async () => {
    const { raw, filename, mediaType } = firstPart(await newTask('artifact-file'))
    expect(Buffer.from(raw, 'base64').length).toBeGreaterThan(0)
    expect({ filename, mediaType }).toEqual({ filename: 'output.txt', mediaType: 'text/plain' })
  })

  test('a file elsewhere is an artifact with its URL, its name and its media type', async () => {
    expect(firstPart(await newTask('artifact-file-url'))).toEqual({
      url: 'https://example.com/output.txt',
      filename: 'output.txt',
      mediaType: 'text/plain',
    })
  })

  test('data is an artifact with a data part', async () => {
    expect(firstPart(await newTask('artifact-data')).data).toEqual({ key: 'value', count: 42 })
  })

  test('an artifact that came in chunks is whole in the task', async () => {
    const { artifacts } = await newTask('stream-artifact-chunked')
    expect(artifacts).toHaveLength(1)
    expect(artifacts[0].parts.map(({ text }: Json) => text).join('')).toBe('chunk-1 chunk-2')
  })
})

describe('the data model', () => {
  test('names of fields are in camel case, values of enums are strings, timestamps are UTC', async () => {
    const { body } = await peer.call('SendMessage', userMessage(like('complete-task')))
    const text = JSON.stringify(body)
    const names = [...text.matchAll(/"([^"]+)":/g)].map(([, name]) => name)
    expect(names.filter((name) => /^[a-z]+(_[a-z]+)+$/.test(name!))).toEqual([])
    shapes.sent.parse(body.result)
    expect(body.result.task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })
})

describe('SendStreamingMessage', () => {
  test('opens a stream of server-sent events whose items are JSON-RPC answers', async () => {
    const stream = await peer.stream('SendStreamingMessage', userMessage(like('stream-001')))
    expect(stream.contentType).toContain('text/event-stream')
    const items = await all(stream)
    expect(items.length).toBeGreaterThan(0)
    for (const item of items) shapes.streamed.parse((shapes.answer.parse(item) as Json).result)
  })

  test('gives exactly one message and ends where the agent makes no task', async () => {
    const items = await streamOf('message-response')
    expect(items).toHaveLength(1)
    expect(items[0].message.parts).toEqual([{ text: 'Direct message response' }])
  })

  test('begins with the task and ends at its terminal state', async () => {
    const items = await streamOf('stream-003')
    expect(items[0]).toHaveProperty('task')
    expect(items.filter((item) => 'task' in item)).toHaveLength(1)
    expect(TERMINAL).toContain(items.at(-1).statusUpdate.status.state)
  })

  test('gives events in the order in which they arose, and no state goes back', async () => {
    const order = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']
    const ranks = statesOf(await streamOf('stream-ordering-001')).map((state) => order.indexOf(state))
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
    expect(ranks.at(-1)).toBe(2)
  })

  test('ends where the task needs input', async () => {
    expect(statesOf(await streamOf('input-required')).at(-1)).toBe('TASK_STATE_INPUT_REQUIRED')
  })

  test('streams artifacts, and their chunks under one id', async () => {
    const live = await streamOf('stream-artifact-chunked')
    // A live chunk does not wait for the end of its artifact. Whoever reads the stream again finds both together.
    const again = await peer.stream('SubscribeToTask', { id: live[0].task.id }, { 'last-event-id': '0' })
    const whole = (await all(again)).map(({ result }) => shapes.streamed.parse(result) as Json)
    const chunksOf = (items: readonly Json[]): Json[] =>
      items.flatMap(({ artifactUpdate }) => artifactUpdate ?? [])
    for (const chunks of [chunksOf(live), chunksOf(whole)]) {
      expect(new Set(chunks.map(({ artifact }) => artifact.artifactId)).size).toBe(1)
      expect(chunks.slice(1).every(({ append }) => append)).toBe(true)
      expect(chunks.slice(0, -1).some(({ lastChunk }) => lastChunk)).toBe(false)
      const texts = chunks.flatMap(({ artifact }) => artifact.parts.map(({ text }: Json) => text))
      expect(texts.join('')).toBe('chunk-1 chunk-2')
    }
    expect(chunksOf(whole).at(-1).lastChunk).toBe(true)
    const [file] = (await streamOf('stream-artifact-file')).filter((item) => item.artifactUpdate)
    expect(file.artifactUpdate.artifact.parts[0]).toMatchObject({ filename: 'output.txt' })
  })

  test('the task goes on where the client leaves', async () => {
    const stream = await peer.stream('SendStreamingMessage', userMessage(like('delayed-complete')))
    let id = ''
    for await (const { result } of stream) {
      id = result.task.id
      break
    }
    stream.leave()
    while (!TERMINAL.includes(stateOf(await result('GetTask', { id })))) await sleep(20)
    expect(stateOf(await result('GetTask', { id }))).toBe('TASK_STATE_COMPLETED')
  })
})

describe('SubscribeToTask', () => {
  const subscribe = (id: string) => peer.stream('SubscribeToTask', { id })

  test('gives the task as it is first, and ends at its terminal state', async () => {
    const { id } = await newTask('input-required')
    const stream = await subscribe(id)
    const items: Json[] = []
    for await (const item of stream) {
      items.push(shapes.streamed.parse(item.result))
      if (items.length === 1) await newTask('complete-task', { taskId: id })
    }
    expect(items[0].task).toMatchObject({ id, status: { state: 'TASK_STATE_INPUT_REQUIRED' } })
    expect(items.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('gives every stream of a task the same events in the same order', async () => {
    const { id } = await newTask('input-required')
    const streams = await Promise.all([subscribe(id), subscribe(id)])
    const reading = streams.map((stream) => all(stream))
    await sleep(50)
    await newTask('complete-task', { taskId: id })
    const [one, other] = await Promise.all(reading)
    expect(one!.length).toBeGreaterThan(1)
    const events = (items: Json[]) => items.map(({ result }) => result)
    expect(events(one!)).toEqual(events(other!))
  })

  test('one stream goes on where another one of the task is closed', async () => {
    const { id } = await newTask('input-required')
    const [leaving, staying] = [await subscribe(id), await subscribe(id)]
    for await (const _ of leaving) break
    leaving.leave()
    const reading = all(staying)
    await newTask('complete-task', { taskId: id })
    expect(statesOf((await reading).map(({ result }) => result)).at(-1)).toBe('TASK_STATE_COMPLETED')
  })

  test('ends where a task that needs input is canceled', async () => {
    const { id } = await newTask('input-required')
    const items: Json[] = []
    for await (const { result: item } of await subscribe(id)) {
      items.push(shapes.streamed.parse(item))
      if (items.length === 1) await result('CancelTask', { id })
    }
    expect(statesOf(items)).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_CANCELED'])
  })

  test('refuses a task in a terminal state', async () => {
    const { id } = await newTask('complete-task')
    const [{ error }] = await all(await subscribe(id))
    expect(error.code).toBe(-32004)
  })

  test('refuses an unknown task', async () => {
    const [{ error }] = await all(await subscribe('tck-nonexistent'))
    expect(error.code).toBe(-32001)
  })
})

describe('GetTask', () => {
  test('gives the task with its status and artifacts', async () => {
    const { id } = await newTask('artifact-text')
    const task: Json = shapes.task.parse(await result('GetTask', { id }))
    expect(task).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } })
    expect(firstPart(task)).toEqual({ text: 'Generated text content' })
  })

  test('refuses an unknown task', async () => {
    expect((await refusal('GetTask', { id: 'tck-nonexistent' })).code).toBe(-32001)
  })

  test('gives at most historyLength messages, the newest ones, and none for 0', async () => {
    const { id } = await newTask('input-required')
    await newTask('complete-task', { taskId: id })
    const historyOf = async (historyLength?: number): Promise<Json[] | undefined> =>
      (await result('GetTask', { id, historyLength })).history
    const whole = (await historyOf())!
    expect(whole.length).toBeGreaterThan(1)
    expect(await historyOf(1)).toEqual(whole.slice(-1))
    expect(await historyOf(0)).toBeUndefined()
    expect(await historyOf(999_999)).toEqual(whole)
  })

  test('SendMessage gives no history for a historyLength of 0', async () => {
    expect(await newTask('complete-task', {}, { historyLength: 0 })).not.toHaveProperty('history')
  })
})

describe('ListTasks', () => {
  const contextId = `listed-${randomUUID()}`
  const list = async (params: object = {}): Promise<Json> =>
    shapes.taskList.parse(await result('ListTasks', { contextId, ...params }))

  beforeAll(async () => {
    for (let at = 0; at < 5; at++) await newTask('artifact-text', { contextId })
  })

  test('gives the tasks of a context, the one that changed last first', async () => {
    await newTask('complete-task')
    const { tasks, totalSize } = await list()
    expect(tasks.map((task: Json) => task.contextId)).toEqual(Array(5).fill(contextId))
    expect(totalSize).toBe(5)
    const times = tasks.map((task: Json) => Date.parse(task.status.timestamp))
    expect(times).toEqual(times.toSorted((a: number, b: number) => b - a))
  })

  test('has pages, each with the cursor of the next one, which is empty at the end', async () => {
    const ids: string[] = []
    const sizes: number[] = []
    let pageToken = ''
    do {
      const page = await list({ pageSize: 2, pageToken })
      ids.push(...page.tasks.map(({ id }: Json) => id))
      sizes.push(page.tasks.length)
      pageToken = page.nextPageToken
    } while (pageToken !== '')
    expect(sizes).toEqual([2, 2, 1])
    expect(ids).toEqual((await list()).tasks.map(({ id }: Json) => id))
  })

  test('gives an empty page with an empty cursor where there is nothing', async () => {
    const empty = await list({ contextId: `none-${randomUUID()}` })
    expect(empty).toMatchObject({ tasks: [], nextPageToken: '', totalSize: 0 })
  })

  test('leaves the artifacts out unless they are asked for', async () => {
    for (const params of [{}, { includeArtifacts: false }])
      for (const task of (await list(params)).tasks) expect(task).not.toHaveProperty('artifacts')
    for (const task of (await list({ includeArtifacts: true })).tasks)
      expect(firstPart(task)).toEqual({ text: 'Generated text content' })
  })

  test('selects by state and by the time of the last change', async () => {
    expect((await list({ status: 'TASK_STATE_FAILED' })).tasks).toEqual([])
    expect((await list({ status: 'TASK_STATE_COMPLETED' })).tasks).toHaveLength(5)
    const [newest] = (await list()).tasks
    const since = await list({ statusTimestampAfter: newest.status.timestamp })
    expect(since.tasks.map(({ id }: Json) => id)).toContain(newest.id)
    expect((await list({ statusTimestampAfter: '2999-01-01T00:00:00Z' })).tasks).toEqual([])
  })
})

describe('CancelTask', () => {
  test('cancels a task that needs input, and one that is at work', async () => {
    const asking = await newTask('input-required')
    const working = await newTask('long-running', {}, { returnImmediately: true })
    for (const { id } of [asking, working]) {
      const task: Json = shapes.task.parse(await result('CancelTask', { id }))
      expect(task).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } })
      expect(stateOf(await result('GetTask', { id }))).toBe('TASK_STATE_CANCELED')
    }
  })

  test('refuses a task in a terminal state', async () => {
    const { id } = await newTask('complete-task')
    expect((await refusal('CancelTask', { id })).code).toBe(-32002)
  })

  test('refuses an unknown task', async () => {
    expect((await refusal('CancelTask', { id: 'tck-nonexistent' })).code).toBe(-32001)
  })
})

describe('JSON-RPC', () => {
  test('answers have the media type application/json and the envelope of JSON-RPC 2.0', async () => {
    for (const params of [userMessage(like('complete-task')), {}]) {
      const { contentType, body } = await peer.call('SendMessage', params)
      expect(contentType).toContain('application/json')
      shapes.answer.parse(body)
    }
  })

  test('the errors of the protocol carry ErrorInfo', async () => {
    const { code, data } = await refusal('GetTask', { id: 'tck-nonexistent' })
    expect(code).toBe(-32001)
    expect(data).toContainEqual(
      expect.objectContaining({
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'TASK_NOT_FOUND',
        domain: 'a2a-protocol.org',
      }),
    )
  })

  test('wrong params are refused before anything happens', async () => {
    const { parts, ...withoutParts } = userMessage(like('complete-task')).message
    const message = { ...withoutParts, parts }
    const wrong = [
      {},
      { message: withoutParts },
      { message: { ...message, parts: [] } },
      { message: { ...message, parts: 'invalid' } },
      { message: { ...message, parts: [{ text: 'a', url: 'https://example.com' }] } },
      { message: { ...message, role: 'somebody' } },
      { message: { ...message, messageId: undefined } },
    ]
    for (const params of wrong) expect((await refusal('SendMessage', params)).code).toBe(-32602)
    expect((await refusal('GetTask', {})).code).toBe(-32602)
    expect((await refusal('ListTasks', { pageSize: 101 })).code).toBe(-32602)
  })

  test('an unknown method is not found', async () => {
    expect((await refusal('NonExistentMethod', {})).code).toBe(-32601)
  })

  test('unknown extensions in the header of the request are ignored', async () => {
    const headers = { 'a2a-extensions': 'https://example.com/ext/v1, https://example.com/ext/v2' }
    const { status, body } = await peer.call('SendMessage', userMessage(like('complete-task')), headers)
    expect({ status, state: body.result.task.status.state }).toEqual({
      status: 200,
      state: 'TASK_STATE_COMPLETED',
    })
  })
})

describe('versions', () => {
  const versioned = (version: string, method: string, params: unknown) =>
    peer.call(method, params, { 'a2a-version': version })

  test('a version that the interface does not offer is refused', async () => {
    for (const version of ['99.0', '0.2', 'next']) {
      const { body } = await versioned(version, 'SendMessage', userMessage(like('complete-task')))
      expect(body.error.code).toBe(-32009)
    }
  })

  test('an empty version is 0.3', async () => {
    const { body } = await versioned('', 'message/send', {
      message: {
        kind: 'message',
        role: 'user',
        messageId: like('complete-task'),
        parts: [{ kind: 'text', text: 'Hello' }],
      },
    })
    expect(body.result).toMatchObject({ kind: 'task', status: { state: 'completed' } })
  })

  test('the patch number of a version is ignored', async () => {
    const { body } = await versioned('1.0.7', 'SendMessage', userMessage(like('complete-task')))
    expect(stateOf(body.result.task)).toBe('TASK_STATE_COMPLETED')
  })
})

describe('capabilities', () => {
  test('the extended card is refused where the card does not announce one', async () => {
    const { capabilities } = await (await fetch(cardUrl)).json()
    expect(capabilities.extendedAgentCard ?? false).toBe(false)
    expect((await refusal('GetExtendedAgentCard', {})).code).toBe(-32004)
  })
})
