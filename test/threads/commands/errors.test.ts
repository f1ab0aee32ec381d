import { expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { chat } from '../../fixtures/graphs.ts'
import { serveAgents } from '../../kit/host.ts'

const serve = async () => {
  const host = await serveAgents({ agents: { a: langgraph(chat()) } })
  return host.thread()
}

test.each([
  ['an empty body', ''],
  ['no JSON', '{"id":1,'],
  ['NaN', 'NaN'],
  ['a number', '7'],
  ['null', 'null'],
  ['a list', '[{"id":1,"method":"run.start"}]'],
  ['no id', '{"method":"run.start"}'],
  ['a null id', '{"id":null,"method":"run.start"}'],
  ['a fractional id', '{"id":1.5,"method":"run.start"}'],
  ['a negative id', '{"id":-1,"method":"run.start"}'],
  ['no method', '{"id":1}'],
  ['a method that is no text', '{"id":1,"method":7}'],
  ['too deep', `{"id":1,"method":"run.start","params":${'['.repeat(200)}${']'.repeat(200)}}`],
])(
  'a body that is not a command is answered 400 with the error of the protocol, and creates no thread: %s',
  async (_, body) => {
    const thread = await serve()
    const { status, body: answer } = await thread.request('POST', '/commands', body)
    expect(status).toBe(400)
    expect(answer).toEqual({
      type: 'error',
      id: null,
      error: 'invalid_argument',
      message: expect.any(String),
    })
    expect((await thread.get('')).status).toBe(404)
  },
)

test('a body that is too large is answered 413 with the error of the protocol', async () => {
  const host = await serveAgents({ agents: { a: langgraph(chat()) }, http: { maxBodyBytes: 1_000 } })
  const thread = host.thread()
  const { status, body } = await thread.post('/commands', {
    id: 1,
    method: 'run.start',
    params: { input: 'x'.repeat(1_000) },
  })
  expect(status).toBe(413)
  expect(body).toMatchObject({ type: 'error', error: 'invalid_argument' })
  expect((await thread.get('')).status).toBe(404)
})

test.each([
  ['run.start', { assistant_id: 7 }],
  ['run.start', { config: 'x' }],
  ['run.start', { config: { configurable: [] } }],
  ['run.start', { config: { recursion_limit: 0 } }],
  ['run.start', { config: { recursion_limit: 1.5 } }],
  ['run.start', { config: { tags: 'x' } }],
  ['run.start', { metadata: 'x' }],
  ['run.start', 'text'],
  ['run.start', []],
  ['input.respond', 7],
  ['input.inject', {}],
  ['state.get', { namespace: 'x' }],
  ['state.get', { keys: 'x' }],
  ['state.listCheckpoints', { limit: 0 }],
  ['state.listCheckpoints', { limit: '5' }],
  ['state.listCheckpoints', { limit: 1_001 }],
  ['state.listCheckpoints', { before: {} }],
  ['state.fork', {}],
  ['agent.getTree', { run_id: 7 }],
])('params of a wrong type are invalid_argument that names the place: %s %j', async (method, params) => {
  const thread = await serve()
  const answer = await thread.command(method, params)
  expect(answer).toMatchObject({ error: 'invalid_argument' })
  const [key] = typeof params === 'object' ? Object.keys(params) : []
  if (key !== undefined) expect(answer.message).toContain(key)
  expect((await thread.get('')).status).toBe(404)
})

test.each(['', 'run', 'run.start ', 'RUN.START', '__proto__', 'constructor', 'toString', 'input.requested'])(
  'the unknown command %j is refused',
  async (method) => {
    const thread = await serve()
    expect(await thread.refused(method, {})).toBe('unknown_command')
  },
)

test.each([
  ['run.star', 'Did you mean run.start?'],
  ['state.list_checkpoints', 'Did you mean state.listCheckpoints?'],
  ['input.response', 'Did you mean input.respond?'],
  ['subscription.subscribed', 'Did you mean subscription.subscribe?'],
])('the refusal of %j has the name that was probably meant', async (method, hint) => {
  const thread = await serve()
  const answer = await thread.command(method, {})
  expect(answer).toMatchObject({ error: 'unknown_command', message: expect.stringContaining(hint) })
})

test('commands on a thread that does not exist are refused', async () => {
  const thread = await serve()
  for (const [method, params] of [
    ['input.respond', { interrupt_id: 'x' }],
    ['input.inject', { message: { role: 'user', content: 'x' } }],
    ['state.get', { namespace: [] }],
    ['state.listCheckpoints', {}],
    ['state.fork', { checkpoint_id: 'x' }],
    ['agent.getTree', {}],
  ] as const)
    expect([method, await thread.refused(method, params)]).toEqual([method, 'no_such_run'])
  expect((await thread.get('')).status).toBe(404)
})

test('an error of the server is reported, and answered once without its text', async () => {
  const agent = {
    ...langgraph(chat()),
    getState: () => Promise.reject(new Error('password in the connection string')),
  }
  const host = await serveAgents({ agents: { a: agent } })
  const thread = host.thread()
  await thread.start({ messages: [] })
  await thread.transcript()
  const answer = await thread.command('state.get', { namespace: [] })
  expect(answer).toMatchObject({ error: 'unknown_error' })
  expect(answer.message).not.toContain('password')
  const { status, body } = await thread.get('/state')
  expect(status).toBe(500)
  expect(JSON.stringify(body)).not.toContain('password')
  expect(host.errors.splice(0)).toHaveLength(2)
})
