import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { chat } from '../fixtures/graphs.ts'
import { counted } from '../kit/calls.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import { STORES } from '../kit/stores.ts'

const keys = (count: number, value: unknown = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]))

const echo = defineAgent({
  async run({ message }) {
    await message('Hello.')
  },
})

type Open = () => Promise<Parameters<typeof counted>[0]>

async function serve(create: () => Promise<Open>) {
  const { storage, calls, reset } = counted(await (await create())())
  const { reporters } = unexpectedErrors()
  const server = createAgentServer({
    agents: { echo, chat: langgraph(chat()) },
    defaultAgent: 'echo',
    ...(storage as object),
    ...reporters,
  })
  onTestFinished(() => server.close())
  const send = async (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') => {
    const answer = await server.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    return { status: answer.status, text: await answer.text() }
  }
  return { send, calls, reset, server }
}

test.each(STORES)('a search by many keys makes few calls of the storage: $name', async ({ create }) => {
  const { send, calls, reset } = await serve(create as never)
  const metadata = keys(1_000, 'v')
  for (let i = 0; i < 3; i++) await send('/threads', { metadata: { ...keys(20, 'v'), number: i } })
  await send('/threads/search', { metadata: { k0: 'v' } })
  for (const path of ['/threads/search', '/threads/count']) {
    reset()
    const { status, text } = await send(path, { metadata })
    expect(status, text).toBe(200)
    expect(JSON.parse(text)).toEqual(path === '/threads/count' ? 0 : [])
    expect(calls.made.length, calls.made.join(' ')).toBeLessThanOrEqual(20)
    const found = await send(path, { metadata: keys(20, 'v') })
    expect(JSON.parse(found.text)).toEqual(
      path === '/threads/count' ? 3 : [expect.anything(), expect.anything(), expect.anything()],
    )
    reset()
    for (const many of [{ metadata: keys(20_000) }, { values: keys(20_000) }]) {
      const { status, text } = await send(path, many)
      expect(status).toBe(400)
      expect(text).toContain('at most 1000 keys')
    }
    expect(calls.made).toEqual([])
  }
})

const REFUSED: readonly (readonly [path: string, body: object, expected: string, method?: string])[] = [
  ['/threads', { metadata: keys(1_001) }, '1000 keys'],
  ['/threads', { metadata: { a: 'x'.repeat(300_000) } }, '262144 characters'],
  ['/threads/t', { metadata: keys(1_001) }, '1000 keys', 'PATCH'],
  ['/threads/t', { metadata: { a: 'x'.repeat(300_000) } }, '262144 characters', 'PATCH'],
  ['/threads/t/runs/wait', { assistant_id: 'echo', input: keys(200_000) }, '1000 keys'],
  ['/threads/t/runs/wait', { assistant_id: 'chat', input: keys(5_000) }, '1000 keys'],
  ['/threads/t/runs', { assistant_id: 'chat', input: keys(5_000) }, '1000 keys'],
  ['/threads/t/runs', { assistant_id: 'chat', context: keys(1_001) }, '1000 keys'],
  ['/runs/wait', { assistant_id: 'chat', input: keys(5_000) }, '1000 keys'],
  ['/threads/t/state', { values: keys(5_000) }, '1000 keys'],
  ['/threads/t/commands', { id: 1, method: 'run.start', params: { input: keys(5_000) } }, '1000 keys'],
]

test.each(STORES)('what is too large is refused before it has any effect: $name', async ({ create }) => {
  const { send, calls, reset } = await serve(create as never)
  await send('/threads', { thread_id: 't' })
  await send('/threads/t', { metadata: { a: 1 } }, 'PATCH')
  for (const [path, body, expected, method] of REFUSED) {
    reset()
    const { status, text } = await send(path, body, method)
    expect({ path, status }).toEqual({
      path,
      status: path.endsWith('/commands') ? expect.any(Number) : expect.toBeOneOf([400, 422]),
    })
    expect(text).toContain(expected)
    expect(
      calls.made.filter((call) => /commit|put/.test(call)),
      path,
    ).toEqual([])
  }
  const { text } = await send('/threads/search', {})
  expect(JSON.parse(text)).toMatchObject([{ thread_id: 't', metadata: { a: 1 }, status: 'idle' }])
})

test.each(STORES)('patches do not grow metadata beyond the limit: $name', async ({ create }) => {
  const { send } = await serve(create as never)
  await send('/threads', { thread_id: 't', metadata: keys(900) })
  const more = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`m${at}`, 0]))
  expect((await send('/threads/t', { metadata: more }, 'PATCH')).status).toBe(400)
  expect(Object.keys(JSON.parse((await send('/threads/t')).text).metadata).length).toBe(900)
})

test.each(STORES)(
  'a message of 150,000 empty blocks leaves a thread that can be read: $name',
  async ({ create }) => {
    const { send } = await serve(create as never)
    const content = Array(150_000).fill({})
    for (const assistant_id of ['echo', 'chat']) {
      const thread = randomUUID()
      await send('/threads', { thread_id: thread })
      const input = { messages: [{ role: 'user', content }] }
      expect((await send(`/threads/${thread}/runs/wait`, { assistant_id, input })).status).toBe(200)
      for (const path of [`/threads/${thread}`, `/threads/${thread}/state`, `/threads/${thread}/history`])
        expect((await send(path)).status, path).toBe(200)
      const again = { messages: [{ role: 'user', content: 'hi' }] }
      const { status, text } = await send(`/threads/${thread}/runs/wait`, { assistant_id, input: again })
      expect(status, text.slice(0, 300)).toBe(200)
    }
  },
)
