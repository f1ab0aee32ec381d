import { createServer, type IncomingHttpHeaders } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import {
  type AgentServer,
  createAgentServer,
  defineAgent,
  type OwnEngineOptions,
  type ServerEvent,
  type ServerFaces,
} from '../../../src/index.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import { openServer } from '../../kit/listen.ts'
import { eventually } from '../../kit/wait.ts'

const agents = {
  echo: defineAgent({
    async run({ message }) {
      await message('hello')
    },
  }),
  asks: defineAgent({
    async run({ interrupt, message }) {
      await message(`It is ${await interrupt<string>('Which?')}.`)
    },
  }),
}

interface Received {
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: the body of either dialect
  readonly body: any
}

/** A webhook on loopback. `status` decides what each request is answered with. */
async function webhook(status: (count: number) => number = () => 200) {
  const received: Received[] = []
  let asked = 0
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const code = status(++asked)
      response.writeHead(code).end()
      if (code < 300) received.push({ headers: request.headers, body: JSON.parse(text) })
    })
  })
  const { origin, close } = await openServer(server)
  onTestFinished(close)
  return { url: `${origin}/hook`, received, asked: () => asked }
}

function serverOf(
  faces: ServerFaces & Pick<OwnEngineOptions, 'observe'> = {},
  store = memoryStore(),
): AgentServer {
  const server = createAgentServer({ agents, store, a2a: { push: { allowLoopback: true } }, ...faces })
  onTestFinished(() => server.close())
  return server
}

/** Calls a method, and gives the whole answer. */
async function call(
  server: AgentServer,
  agent: keyof typeof agents,
  method: string,
  params: unknown,
  headers: Record<string, string> = {},
  // biome-ignore lint/suspicious/noExplicitAny: the answer of either dialect
): Promise<any> {
  const response = await server.fetch(
    new Request(`http://a/a2a/${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    }),
  )
  return response.json()
}

let count = 0
const user = (text: string, more: object = {}) => ({
  message: {
    kind: 'message',
    role: 'user',
    messageId: `m${++count}`,
    parts: [{ kind: 'text', text }],
    ...more,
  },
})
const v1User = (text: string, more: object = {}) => ({
  message: { role: 'ROLE_USER', messageId: `m${++count}`, parts: [{ text }], ...more },
})

const states = (received: readonly Received[]): string[] =>
  received.map(({ body }) => (body.statusUpdate ?? body.task ?? body).status.state)

test('a v0.3 webhook is told the whole task with the token and the credentials it has given', async () => {
  const hook = await webhook()
  const server = serverOf()
  const pushNotificationConfig = {
    url: hook.url,
    token: 'secret-token',
    authentication: { schemes: ['Bearer'], credentials: 'abc' },
  }
  const { result } = await call(server, 'echo', 'message/send', {
    ...user('hi'),
    configuration: { pushNotificationConfig },
  })
  await eventually(() => states(hook.received).includes('completed'), { what: 'The push' })
  const { headers, body } = hook.received.at(-1)!
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-a2a-notification-token': 'secret-token',
    authorization: 'Bearer abc',
  })
  expect(body).toMatchObject({ kind: 'task', id: result.id, contextId: result.contextId })
  expect(body.artifacts[0].parts[0].text).toBe('hello')
})

test('a v1.0 webhook is told stream responses, in the order of the changes, also those after an answer', async () => {
  const hook = await webhook()
  const server = serverOf()
  const taskPushNotificationConfig = { url: hook.url }
  const { result } = await call(server, 'asks', 'SendMessage', {
    ...v1User('hi'),
    configuration: { taskPushNotificationConfig },
  })
  const { id: taskId, contextId } = result.task
  await eventually(() => states(hook.received).includes('TASK_STATE_INPUT_REQUIRED'), {
    what: 'The question',
  })
  await call(server, 'asks', 'SendMessage', v1User('blue', { taskId, contextId }))
  await eventually(() => states(hook.received).includes('TASK_STATE_COMPLETED'), { what: 'The end' })
  expect(hook.received[0]!.headers['content-type']).toBe('application/a2a+json')
  const order = states(hook.received).filter((state) => !/SUBMITTED|WORKING/.test(state))
  expect(order).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_COMPLETED'])
  for (const { body } of hook.received) expect(Object.keys(body)).toHaveLength(1)
})

test('a task that is cancelled while it waits for its client is told so', async () => {
  const hook = await webhook()
  const server = serverOf()
  const { result } = await call(server, 'asks', 'message/send', {
    ...user('hi'),
    configuration: { pushNotificationConfig: { url: hook.url } },
  })
  await eventually(() => states(hook.received).includes('input-required'), { what: 'The question' })
  await call(server, 'asks', 'tasks/cancel', { id: result.id })
  await eventually(() => states(hook.received).includes('canceled'), { what: 'The end' })
})

test('nothing follows a task any more that has ended, or whose config was deleted', async () => {
  const hook = await webhook()
  const store = memoryStore()
  const server = serverOf({}, store)
  const configuration = { pushNotificationConfig: { id: 'hook', url: hook.url } }
  const jobs = async () => (await store.list('jobs', {})).docs.length
  const send = async (agent: keyof typeof agents): Promise<string> =>
    (await call(server, agent, 'message/send', { ...user('hi'), configuration })).result.id
  await send('echo')
  await eventually(() => states(hook.received).includes('completed'), { what: 'The end' })
  await eventually(async () => (await jobs()) === 0, { what: 'The end of the job', timeoutMs: 200_000 })
  const cancelled = await send('asks')
  await eventually(() => states(hook.received).includes('input-required'), { what: 'The question' })
  expect(await jobs()).toBe(1)
  await call(server, 'asks', 'tasks/cancel', { id: cancelled })
  await eventually(async () => (await jobs()) === 0, { what: 'The end of the job', timeoutMs: 200_000 })
  const id = await send('asks')
  await eventually(async () => (await jobs()) === 1, { what: 'The job' })
  const deleted = { id, pushNotificationConfigId: 'hook' }
  await call(server, 'asks', 'tasks/pushNotificationConfig/delete', deleted)
  expect(await jobs()).toBe(0)
})

test('what a receiver does not take is sent again, and what it refuses is not', async () => {
  const busy = await webhook((asked) => (asked < 3 ? 503 : 200))
  const refusing = await webhook(() => 404)
  const [told, reported]: [ServerEvent[], unknown[]] = [[], []]
  const server = serverOf({
    a2a: { push: { allow: ['127.0.0.0/8'] } },
    observe: (event) => told.push(event),
    onError: (error, { threadId }) => void reported.push({ error, threadId }),
  })
  const contexts: string[] = []
  for (const { url } of [busy, refusing]) {
    const { result } = await call(server, 'echo', 'message/send', {
      ...user('hi'),
      configuration: { pushNotificationConfig: { url } },
    })
    contexts.push(result.contextId)
  }
  await eventually(() => states(busy.received).includes('completed'), { what: 'The push' })
  expect(busy.asked()).toBeGreaterThanOrEqual(3)
  // Every refusal is told to the operator: it is not tried again.
  const refusals = () => told.filter((event) => event.type === 'delivery.failed')
  await eventually(() => refusals().length === refusing.asked() && refusing.asked() > 0, {
    what: 'The refusals',
  })
  expect(refusing.asked()).toBeLessThanOrEqual(2)
  const { host } = new URL(refusing.url)
  const error = { code: 'delivery_refused', cause: { code: 'rejected', status: 404 } }
  for (const event of refusals())
    expect(event).toMatchObject({ kind: 'a2a_push', threadId: contexts[1], host, failures: 1, error })
  expect(reported).toMatchObject(refusals().map(() => ({ error, threadId: contexts[1] })))
})

test('the next server over the same store delivers what the one before could not', async () => {
  let isDown = true
  const hook = await webhook(() => (isDown ? 503 : 200))
  const store = memoryStore()
  const first = serverOf({}, store)
  await call(first, 'echo', 'message/send', {
    ...user('hi'),
    configuration: { pushNotificationConfig: { url: hook.url } },
  })
  await eventually(() => hook.asked() > 0, { what: 'The first try' })
  await first.close()
  isDown = false
  serverOf({}, store)
  await eventually(() => states(hook.received).includes('completed'), { what: 'The push' })
})

test('configs are set, got, listed and deleted in both dialects, and each task has its own', async () => {
  const server = serverOf()
  const url = 'http://127.0.0.1:9/hook'
  const { result: task } = await call(server, 'asks', 'message/send', user('hi'))
  const { id: taskId } = task
  const ask = (method: string, params: object) => call(server, 'asks', method, params)
  const set = await ask('tasks/pushNotificationConfig/set', { taskId, pushNotificationConfig: { url } })
  expect(set.result).toEqual({ taskId, pushNotificationConfig: { url, id: taskId } })
  expect((await ask('tasks/pushNotificationConfig/get', { id: taskId })).result).toEqual(set.result)
  const made = await ask('CreateTaskPushNotificationConfig', { taskId, url, token: 't' })
  expect(made.result).toMatchObject({ taskId, url, token: 't' })
  const { id } = made.result
  expect((await ask('GetTaskPushNotificationConfig', { taskId, id })).result).toEqual(made.result)
  expect((await ask('tasks/pushNotificationConfig/list', { id: taskId })).result).toHaveLength(2)
  expect((await ask('ListTaskPushNotificationConfigs', { taskId })).result.configs).toHaveLength(2)
  await ask('tasks/pushNotificationConfig/delete', { id: taskId, pushNotificationConfigId: taskId })
  await ask('DeleteTaskPushNotificationConfig', { taskId, id })
  expect((await ask('ListTaskPushNotificationConfigs', { taskId })).result.configs ?? []).toEqual([])
  expect((await ask('GetTaskPushNotificationConfig', { taskId, id })).error.code).toBe(-32001)
  const other = await call(server, 'asks', 'message/send', user('hi'))
  expect((await ask('tasks/pushNotificationConfig/list', { id: other.result.id })).result).toEqual([])
})

test.each([
  ['a private address', { url: 'http://10.0.0.1/hook' }],
  ['an address in another spelling', { url: 'http://2130706433/' }],
  ['the metadata service', { url: 'http://169.254.169.254/latest' }],
  ['another protocol', { url: 'file:///etc/passwd' }],
  ['no address', { url: 'hook' }],
  ['a token that would be a header', { url: 'https://example.com', token: 'a\r\nx: y' }],
])('a config with %s is refused, and nothing is stored or started', async (_what, config) => {
  const store = memoryStore()
  const server = serverOf({ a2a: {} }, store)
  const sent = await call(server, 'echo', 'message/send', {
    ...user('hi'),
    configuration: { pushNotificationConfig: config },
  })
  expect(sent.error.code).toBe(-32602)
  expect(sent.error.message).toMatch(/^pushNotificationConfig: [^.]+\.( (Give|Use) [^.]+\.)?$/)
  expect((await store.list('threads')).docs).toEqual([])
  const { result } = await call(server, 'echo', 'message/send', user('hi'))
  const set = await call(server, 'echo', 'tasks/pushNotificationConfig/set', {
    taskId: result.id,
    pushNotificationConfig: config,
  })
  expect(set.error.code).toBe(-32602)
  expect((await store.list('jobs')).docs).toEqual([])
})

test('a server that sends none says so in its card and to those who ask', async () => {
  const server = serverOf({ a2a: { push: false } })
  const card = await (await server.fetch(new Request('http://a/a2a/echo/.well-known/agent-card.json'))).json()
  expect(card.capabilities.pushNotifications).toBe(false)
  const { result } = await call(server, 'echo', 'message/send', user('hi'))
  const set = await call(server, 'echo', 'tasks/pushNotificationConfig/set', {
    taskId: result.id,
    pushNotificationConfig: { url: 'https://example.com' },
  })
  expect(set.error.code).toBe(-32003)
})
