import { expect, onTestFinished, test } from 'vitest'
import { openAi } from '../../src/faces/openai/index.ts'
import { type Agent, type AgentEngine, createAgentServer, defineAgent, textOf } from '../../src/index.ts'
import { expire } from '../kit/conversation.ts'
import type { Json } from '../kit/events.ts'
import { killable, type Place, sharedMemory } from '../kit/shared.ts'
import { eventually, gate } from '../kit/wait.ts'
import { eventsOf, withoutComments } from './served.ts'

/** An instance of a server over a shared storage, called without a socket. */
function instance(place: Place, agent: Agent, options: object = {}) {
  const server = createAgentServer({
    agents: { agent },
    ...place,
    onError() {},
    faces: [openAi()],
    ...options,
  })
  const open = (method: string, path: string, body?: Json, headers: Record<string, string> = {}) =>
    server.fetch(
      new Request(`http://127.0.0.1/v1${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  return {
    server,
    open,
    text: async (...request: Parameters<typeof open>) => (await open(...request)).text(),
  }
}

/** An agent whose first attempt stops after `first`; the next one says `second`. */
function restarted(first: string, second: string) {
  const { opened, open } = gate()
  let attempts = 0
  const agent = defineAgent({
    resumable: true,
    async run({ message }) {
      const isFirst = ++attempts === 1
      const answer = message()
      await answer.text(isFirst ? first : second)
      if (isFirst) {
        open()
        await new Promise(() => {})
      }
      await answer.end()
    },
  })
  return { agent, hasBegun: opened }
}

async function idsOf(engine: AgentEngine): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const { threadId } of engine.listThreads()) ids.push(threadId)
  return ids
}

const chatText = (text: string): string =>
  eventsOf(text)
    .map(({ choices, error }) => error?.message ?? choices[0]?.delta.content ?? '')
    .join('')

/** Loses the process of a run in the middle of its answer, and gives what a reader on another instance is sent. */
async function takenOver(first: string, second: string, path: '/responses' | '/chat/completions') {
  const shared = sharedMemory()
  const { place, kill } = killable(shared())
  const { agent, hasBegun } = restarted(first, second)
  const lost = instance(place, agent)
  const survivor = instance(shared(), agent)
  onTestFinished(() => survivor.server.close())
  const body = {
    model: 'agent',
    ...(path === '/responses'
      ? { input: 'Hi', background: true }
      : { messages: [{ role: 'user', content: 'Hi' }], stream: true, metadata: { thread_id: 't' } }),
  }
  const begun = await lost.open('POST', path, body)
  const { id } = path === '/responses' ? ((await begun.json()) as { id: string }) : { id: '' }
  await hasBegun
  const [threadId] = await idsOf(survivor.server.engine)
  const reading =
    path === '/responses'
      ? survivor.text('GET', `/responses/${id}?stream=true`)
      : survivor.text('POST', path, body, { 'x-stainless-retry-count': '1' })
  await eventually(async () => (await survivor.server.engine.measure()).subscribers > 0)
  await eventually(async () => (await shared().store.inspect(threadId!)).head > 3)
  kill()
  await expire(shared(), threadId!)
  return { text: await reading, id, survivor, threadId: threadId! }
}

test('what a lost process has written is an incomplete item, and not in the response', async () => {
  const { text, id, survivor } = await takenOver('The capital of Fr', 'Paris is it.', '/responses')
  const events = eventsOf(text)
  const done = events.filter(({ type }) => type === 'response.output_item.done')
  expect(done.map(({ item }) => [item.status, item.content[0].text])).toEqual([
    ['incomplete', 'The capital of Fr'],
    ['completed', 'Paris is it.'],
  ])
  const { response } = events.at(-1)!
  expect(response).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'Paris is it.' }] }] })
  expect(JSON.parse(await survivor.text('GET', `/responses/${id}`))).toEqual(response)
  expect(withoutComments(await survivor.text('GET', `/responses/${id}?stream=true`))).toBe(
    withoutComments(text),
  )
})

test('a chat goes on where a process was lost that had written the same', async () => {
  const { text } = await takenOver(
    'The capital of Fr',
    'The capital of France is Paris.',
    '/chat/completions',
  )
  expect(chatText(text)).toBe('The capital of France is Paris.')
})

test('a chat sends another text whole, apart from the lost one', async () => {
  const { text } = await takenOver('The capital of Fr', 'The city is Paris.', '/chat/completions')
  expect(chatText(text)).toBe('The capital of Fr\n\n---\n\nThe city is Paris.')
})

const echo = defineAgent({
  async run({ messages, message }) {
    const answer = message()
    for (const word of `${textOf(messages.at(-1)!)} `.repeat(20).split(/(?<= )/)) await answer.text(word)
    await answer.end()
  },
})

test('a response whose events are gone is given whole from the state', async () => {
  const { open, text, server } = instance(sharedMemory({ maxThreadBytes: 1 })(), echo, { sweepMs: 30 })
  onTestFinished(() => server.close())
  const whole = (await (await open('POST', '/responses', { model: 'agent', input: 'a' })).json()) as Json
  expect(whole.output[0].content[0].text).toBe('a '.repeat(20))
  const next = { model: 'agent', input: 'b', previous_response_id: whole.id }
  await text('POST', '/responses', next)
  await eventually(async () => {
    const response = await open('GET', `/responses/${whole.id}?stream=true&starting_after=3`)
    await response.body?.cancel()
    return response.status === 410
  })
  const kept = JSON.parse(await text('GET', `/responses/${whole.id}`)) as Json
  expect([kept.status, kept.output[0].content[0].text]).toEqual(['completed', 'a '.repeat(20)])
  const events = eventsOf(await text('GET', `/responses/${whole.id}?stream=true`))
  expect(events[0].type).toBe('response.created')
  expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { output: kept.output } })
})

test('nothing of a tenant is reached by another', async () => {
  const authenticate = ({ headers }: Request) => {
    const [, tenant] = /^Bearer (\w+)$/.exec(headers.get('authorization') ?? '') ?? []
    return tenant ? { id: `user of ${tenant}`, tenant } : null
  }
  const asking = defineAgent({
    async run({ messages, message, interrupt }) {
      await message(textOf(messages.at(-1)!) === 'ask' ? String(await interrupt('Which?')) : 'Yes.')
    },
  })
  const { open, server } = instance(sharedMemory()(), asking, { authenticate })
  onTestFinished(() => server.close())
  const as = async (user: string, ...[method, path, body, headers]: Parameters<typeof open>) => {
    const response = await open(method, path, body, { authorization: `Bearer ${user}`, ...headers })
    return { status: response.status, body: (await response.json()) as Json }
  }
  const { body: mine } = await as('ann', 'POST', '/responses', { model: 'agent', input: 'ask' })
  const { body: conversation } = await as('ann', 'POST', '/conversations', {})
  const [call] = mine.output
  const answer = { type: 'function_call_output', call_id: call.call_id, output: 'x' }
  const requests: Parameters<typeof open>[] = [
    ['GET', `/responses/${mine.id}`],
    ['GET', `/responses/${mine.id}?stream=true`],
    ['POST', `/responses/${mine.id}/cancel`],
    ['DELETE', `/responses/${mine.id}`],
    ['POST', '/responses', { model: 'agent', input: 'x', previous_response_id: mine.id }],
    ['POST', '/responses', { model: 'agent', input: 'x', conversation: conversation.id }],
    ['GET', `/conversations/${conversation.id}`],
    ['GET', `/conversations/${conversation.id}/items`],
    ['POST', `/conversations/${conversation.id}`, { metadata: {} }],
    ['DELETE', `/conversations/${conversation.id}`],
  ]
  for (const request of requests) {
    const { status, body } = await as('bob', ...request)
    expect([request[1], status, typeof body.error.message]).toEqual([request[1], 404, 'string'])
  }
  const stolen = await as('bob', 'POST', '/responses', { model: 'agent', input: [answer] })
  expect(stolen.status).toBe(400)
  // The same chat of a UI is another thread for each tenant.
  const chat = { 'x-openwebui-chat-id': 'one' }
  const say = { model: 'agent', messages: [{ role: 'user', content: 'Hi' }] }
  expect((await as('bob', 'POST', '/chat/completions', say, chat)).status).toBe(200)
  expect((await as('ann', 'POST', '/chat/completions', say, chat)).status).toBe(200)
  const own = await as('ann', 'POST', '/responses', { model: 'agent', input: [answer] })
  expect(own.body.output[0].content[0].text).toBe('x')
  const { status, body } = await as('', 'GET', '/models')
  expect([status, body.error.type]).toEqual([401, 'authentication_error'])
})

test('a permission is asked for with the thread and the assistant', async () => {
  const asked: unknown[] = []
  const { open, server } = instance(sharedMemory()(), echo, {
    authenticate: () => ({ id: 'ann' }),
    authorize: (_: unknown, action: string, resource: object) => {
      asked.push([action, resource])
      return action !== 'runs:cancel'
    },
  })
  onTestFinished(() => server.close())
  const { id } = (await (await open('POST', '/responses', { model: 'agent', input: 'a' })).json()) as Json
  const refused = await open('POST', `/responses/${id}/cancel`)
  expect([refused.status, ((await refused.json()) as Json).error.type]).toEqual([403, 'permission_error'])
  expect(asked).toEqual([
    ['runs:create', { threadId: undefined, assistantId: 'agent' }],
    ['runs:cancel', { threadId: expect.any(String) }],
  ])
})

test('a request that is sent again starts no second run', async () => {
  let runs = 0
  const { opened, open: release } = gate()
  const slow = defineAgent({
    async run({ message }) {
      runs++
      await opened
      await message('Done.')
    },
  })
  const { open, server } = instance(sharedMemory()(), slow)
  onTestFinished(() => server.close())
  const body = { model: 'agent', input: 'a', background: true }
  const send = async (retry: string, more = body) =>
    (await (await open('POST', '/responses', more, { 'x-stainless-retry-count': retry })).json()) as Json
  const first = await send('0')
  expect((await send('1')).id).toBe(first.id)
  // A new request with the same words is another one.
  expect((await send('0')).id).not.toBe(first.id)
  const keyed = async (input: string) => {
    const response = await open('POST', '/responses', { ...body, input }, { 'idempotency-key': 'k' })
    return {
      status: response.status,
      body: (await response.json()) as Json,
      retry: response.headers.get('x-should-retry'),
    }
  }
  const one = await keyed('a')
  expect((await keyed('a')).body.id).toBe(one.body.id)
  const other = await keyed('b')
  expect([other.status, other.body.error.code, other.retry]).toEqual([409, 'key_reused', 'false'])
  release()
  await eventually(
    async () =>
      ((await (await open('GET', `/responses/${one.body.id}`)).json()) as Json).status === 'completed',
  )
  expect(runs).toBe(3)
})

test('an answer to a question that is sent again with its idempotency key gets the same response', async () => {
  const agent = defineAgent({
    async run({ interrupt, message }) {
      await message(`You want ${await interrupt('Which one?')}.`)
    },
  })
  const { open, server } = instance(sharedMemory()(), agent)
  onTestFinished(() => server.close())
  const send = async (input: unknown) =>
    (await (
      await open('POST', '/responses', { model: 'agent', input } as Json, {
        'idempotency-key': `key-of-${typeof input}`,
      })
    ).json()) as Json
  const { output } = await send('Go')
  const answer = [{ type: 'function_call_output', call_id: output[0].call_id, output: 'this' }]
  const first = await send(answer)
  expect(first.output[0].content[0].text).toBe('You want this.')
  expect(await send(answer)).toEqual(first)
})
