import fc from 'fast-check'
import { expect, test } from 'vitest'
import { send, serve } from './local.ts'

/** Processor time of one request with a body of up to half a megabyte, in milliseconds. What is quadratic takes seconds. */
const BUDGET = 500
const MAX_BYTES = 1_000_000
const SIZE = 30_000

/** Values that are cheap to send, by about how many values they have. */
const SHAPES: Readonly<Record<string, (size: number) => unknown>> = {
  numbers: (size) => Array.from({ length: size }, (_, i) => i),
  texts: (size) => Array.from({ length: size }, (_, i) => `${i}`),
  'equal texts': (size) => Array(size).fill('a'),
  'empty lists': (size) => Array(size).fill([]),
  'empty objects': (size) => Array(size).fill({}),
  objects: (size) => Array.from({ length: size / 2 }, (_, i) => ({ a: i })),
  'lists of lists': (size) =>
    Array(Math.floor(Math.sqrt(size))).fill(Array(Math.floor(Math.sqrt(size))).fill({})),
  'many keys': (size) => Object.fromEntries(Array.from({ length: size / 2 }, (_, i) => [`k${i}`, i])),
  'camel keys': (size) => Object.fromEntries(Array.from({ length: size / 2 }, (_, i) => [`A${i}`, i])),
  'a long text': (size) => 'a'.repeat(size * 4),
  'a text of colons': (size) => ':'.repeat(size * 4),
  'capital letters': (size) => 'A'.repeat(size * 4),
  spaces: (size) => ' '.repeat(size * 4),
  'half pairs': (size) => '\ud83d'.repeat(size / 2),
  deep: () => JSON.parse(`${'['.repeat(90)}${']'.repeat(90)}`),
  'wide and deep': (size) =>
    Array(Math.floor(size / 90)).fill(JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`)),
}

/** Requests with a place for such a value. A shape that does not fit there is refused, which must not take long either. */
const REQUESTS: readonly (readonly [path: string, body: (value: unknown) => object])[] = [
  ['/threads/search', (value) => ({ metadata: { value } })],
  ['/threads/search', (metadata) => ({ metadata })],
  ['/threads/search', (value) => ({ values: { value } })],
  ['/threads/search', (value) => ({ values: { notes: value } })],
  ['/threads/search', (ids) => ({ ids })],
  ['/threads/search', (select) => ({ select })],
  ['/threads/count', (value) => ({ metadata: { value } })],
  ['/threads', (metadata) => ({ metadata, if_exists: 'do_nothing' })],
  ['/threads', (thread_id) => ({ thread_id })],
  ['/threads/t/stream', (channels) => ({ channels })],
  ['/threads/t/stream', (namespaces) => ({ channels: ['values'], namespaces })],
  ['/threads/t/stream', (namespace) => ({ channels: ['values'], namespaces: [namespace] })],
  ['/threads/t/stream', (since_event_id) => ({ channels: ['values'], since_event_id })],
  ['/threads/t/history', (metadata) => ({ metadata })],
  ['/threads/t/history', (before) => ({ before })],
  ['/threads/t/state', (value) => ({ values: { notes: [value] } })],
  ['/threads/t/state', (as_node) => ({ values: {}, as_node })],
  ['/threads/t/state/checkpoint', (checkpoint) => ({ checkpoint })],
  ['/threads/t/commands', (input) => ({ method: 'run.start', params: { input } })],
  ['/threads/t/commands', (messages) => ({ method: 'run.start', params: { input: { messages } } })],
  [
    '/threads/t/commands',
    (content) => ({
      method: 'run.start',
      params: { input: { messages: [{ type: 'human', content }] } },
    }),
  ],
  ['/threads/t/commands', (metadata) => ({ method: 'run.start', params: { input: {}, metadata } })],
  ['/threads/t/commands', (configurable) => ({ method: 'run.start', params: { config: { configurable } } })],
  ['/threads/t/commands', (tags) => ({ method: 'run.start', params: { config: { tags } } })],
  ['/threads/t/commands', (responses) => ({ method: 'input.respond', params: { responses } })],
  ['/threads/t/commands', (goto) => ({ method: 'input.respond', params: { interrupt_id: 'x', goto } })],
  [
    '/threads/t/commands',
    (content) => ({
      method: 'input.inject',
      params: { message: { role: 'user', content } },
    }),
  ],
  ['/threads/t/commands', (keys) => ({ method: 'state.get', params: { keys } })],
  ['/threads/t/commands', (namespace) => ({ method: 'state.get', params: { namespace } })],
  ['/threads/t/commands', (before) => ({ method: 'state.listCheckpoints', params: { before } })],
  ['/threads/t/commands', (method) => ({ method, params: {} })],
  ['/threads/t/commands', (params) => ({ method: 'run.start', params })],
]

const processorTime = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const post = (path: string, body: object) => ({ method: 'POST', path, body: JSON.stringify(body) })

test('no body makes a request take longer than its budget, whatever is stored', async () => {
  const { server } = serve(MAX_BYTES)
  const shape = fc.constantFrom(...Object.keys(SHAPES))
  const request = fc.constantFrom(...REQUESTS)
  let at = 0
  await fc.assert(
    fc.asyncProperty(request, shape, shape, async ([path, bodyOf], sent, stored) => {
      const thread = `t${at++}`
      const kept = SHAPES[stored]!(SIZE)
      const metadata = { value: kept }
      await send(server, post('/threads', { thread_id: thread, metadata }))
      await send(server, post(`/threads/${thread}/state`, { values: { notes: [kept] } }))
      const request = post(path.replace('/t/', `/${thread}/`), { id: 1, ...bodyOf(SHAPES[sent]!(SIZE)) })
      const before = processorTime()
      await send(server, request)
      const took = Math.round(processorTime() - before)
      await send(server, { method: 'DELETE', path: `/threads/${thread}` })
      const told = { path, body: request.body.slice(0, 100), stored, took }
      expect({ ...told, isTooSlow: took > BUDGET }).toEqual({ ...told, isTooSlow: false })
    }),
    {
      numRuns: 60,
      examples: [
        [REQUESTS[0]!, 'objects', 'objects'],
        [REQUESTS[0]!, 'texts', 'texts'],
        [REQUESTS[10]!, 'empty lists', 'numbers'],
      ],
    },
  )
})

const many = (item: unknown, count = 1_001) => Array(count).fill(item)
const keys = Object.fromEntries(many(0).map((value, at) => [`k${at}`, value]))

test.each<[path: string, body: object, bound?: string]>([
  ['/threads/t/stream', { channels: many('values') }],
  ['/threads/t/stream', { channels: ['values'], namespaces: many(['a']) }],
  ['/threads/t/stream', { channels: ['values'], namespaces: [many('a')] }],
  ['/threads/search', { ids: many('a') }],
  ['/threads/search', { select: many('thread_id') }],
  [
    '/threads/t/commands',
    { id: 1, method: 'input.respond', params: { responses: many({ interrupt_id: 'i' }) } },
  ],
  ['/threads/t/commands', { id: 1, method: 'run.start', params: { config: { tags: many('a') } } }],
  ['/threads/t/commands', { id: 1, method: 'run.start', params: { metadata: keys } }, '256'],
  ['/threads/t/commands', { id: 1, method: 'run.start', params: { config: { metadata: keys } } }, '256'],
  ['/threads/t/commands', { id: 1, method: 'run.start', params: { config: { configurable: keys } } }, '256'],
])('what is too long is refused with the bound: %s (%#)', async (path, body, bound = '1000') => {
  const { server, written } = serve(MAX_BYTES)
  const answer = await send(server, post(path, body))
  expect(answer.body).toMatchObject({ error: 'invalid_argument', message: expect.stringContaining(bound) })
  expect(written()).toBe(0)
})
