import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type AgentEngine, createAgentEngine } from '../../src/engine/index.ts'
import { approval, chat } from '../fixtures/graphs.ts'
import { type Answer, request } from '../kit/client.ts'
import { isRoot } from '../kit/events.ts'
import { type Host, serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'
import { killable, SHARED, type Shared, sharedMemory } from '../kit/shared.ts'

const agents = () => ({ ask: langgraph(approval()), chat: langgraph(chat()), busy: puppet().agent })

const serve = (shared: Shared) => serveAgents({ agents: agents(), defaultAgent: 'ask', ...shared() })

interface Sent {
  readonly key?: string
  readonly id?: number
}

const command = (host: Host, thread: string, method: string, params: object, { key, id = 1 }: Sent = {}) =>
  request(
    host.origin,
    'POST',
    `/threads/${thread}/commands`,
    { id, method, params },
    key === undefined ? {} : { 'idempotency-key': key },
  )

const write = (host: Host, thread: string, values: object, key: string) =>
  request(host.origin, 'POST', `/threads/${thread}/state`, { values }, { 'idempotency-key': key })

/** Sends the same ten times at once, to the instances in turn. */
const tenTimes = (hosts: readonly Host[], send: (host: Host, id: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: 10 }, (_, i) => send(hosts[i % hosts.length]!, i)))

/** Expects that all are answered 200 and alike, except for the id of each request. */
function expectAlike(answers: readonly Answer[]) {
  const [first, ...others] = answers.map(({ status, body: { id: _, ...body } }) => ({ status, body }))
  expect(first!.status).toBe(200)
  for (const other of others) expect(other).toEqual(first)
  return first!.body
}

const notesOf = async (host: Host, thread: string) =>
  (await host.thread(thread).get('/state')).body.values.notes

const runsOf = async (host: Host, thread: string, runs: number) =>
  (await host.thread(thread).transcript(runs))
    .filter((event) => isRoot(event) && event.params.data.event === 'running')
    .map(({ params }) => params.data.run_id)

describe.each(Object.entries(SHARED))('a command sent to two instances over %s at once', (_, make) => {
  test('run.start starts one run, and gives its id after the run has ended as well', async () => {
    const shared = make()
    const hosts = [await serve(shared), await serve(shared)]
    const send = (host: Host, id: number) => command(host, 't', 'run.start', { input: {} }, { key: 'k', id })
    const { result } = expectAlike(await tenTimes(hosts, send))
    expect(await runsOf(hosts[0]!, 't', 1)).toEqual([result.run_id])
    expect(expectAlike(await tenTimes(hosts, send)).result).toEqual(result)
    const again = await command(hosts[1]!, 't', 'run.start', { input: null }, { key: 'k2' })
    expect(again.body.result.run_id).not.toBe(result.run_id)
    expect(await runsOf(hosts[1]!, 't', 2)).toEqual([result.run_id, again.body.result.run_id])
  })

  test('run.start behind a run in progress enqueues one run', async () => {
    const shared = make()
    const hosts = [await serve(shared), await serve(shared)]
    const busy = { assistant_id: 'busy', input: {} }
    const { body } = await command(hosts[0]!, 't', 'run.start', busy)
    const answers = await tenTimes(hosts, (host, id) =>
      command(host, 't', 'run.start', busy, { key: 'k', id }),
    )
    const { result } = expectAlike(answers)
    await hosts[1]!.thread('t').post(`/runs/${result.run_id}/cancel?wait=1`)
    await hosts[1]!.thread('t').post(`/runs/${body.result.run_id}/cancel?wait=1`)
    expect(await runsOf(hosts[0]!, 't', 1)).toEqual([body.result.run_id])
  })

  test('input.respond answers once, and its repetition is not refused because the question is answered', async () => {
    const shared = make()
    const hosts = [await serve(shared), await serve(shared)]
    const thread = hosts[0]!.thread('t')
    await thread.start({ notes: ['q'] })
    const [{ id: interrupt_id }] = (await thread.idle()).tasks[0].interrupts
    const params = { interrupt_id, response: 'yes', metadata: { command_id: 'in-the-body' } }
    const { result } = expectAlike(
      await tenTimes(hosts, (host, id) => command(host, 't', 'input.respond', params, { id })),
    )
    expect((await runsOf(hosts[1]!, 't', 2))[1]).toBe(result.run_id)
    expect(await notesOf(hosts[0]!, 't')).toEqual(['q', 'answer: yes', 'after'])
    const late = await command(hosts[1]!, 't', 'input.respond', params)
    expect(late.body.result).toEqual(result)
  })

  test('a write of state is done once', async () => {
    const shared = make()
    const hosts = [await serve(shared), await serve(shared)]
    const answers = await tenTimes(hosts, (host) => write(host, 't', { notes: ['once'] }, 'k'))
    const { checkpoint } = expectAlike(answers)
    expect(await notesOf(hosts[0]!, 't')).toEqual(['once'])
    expect((await hosts[1]!.thread('t').get('/history')).body).toHaveLength(1)
    await write(hosts[0]!, 't', { notes: ['more'] }, 'k2')
    expect((await write(hosts[1]!, 't', { notes: ['once'] }, 'k')).body.checkpoint).toEqual(checkpoint)
    expect(await notesOf(hosts[0]!, 't')).toEqual(['once', 'more'])
  })

  test('input.inject and state.fork are done once', async () => {
    const shared = make()
    const hosts = [await serve(shared), await serve(shared)]
    const thread = hosts[0]!.thread('t')
    const messages = [{ type: 'human', content: 'hi' }]
    await thread.start({ messages }, { assistant_id: 'chat' })
    const { checkpoint } = await thread.idle()
    const message = { role: 'user', content: 'injected' }
    expectAlike(
      await tenTimes(hosts, (host, id) => command(host, 't', 'input.inject', { message }, { key: 'i', id })),
    )
    const count = async () => (await thread.get('/state')).body.values.messages.length
    expect(await count()).toBe(3)
    const params = { checkpoint_id: checkpoint.checkpoint_id, input: { messages } }
    const { result } = expectAlike(
      await tenTimes(hosts, (host, id) => command(host, 't', 'state.fork', params, { key: 'f', id })),
    )
    expect((await runsOf(hosts[1]!, 't', 2))[1]).toBe(result.run_id)
    expect(await count()).toBe(4)
    expectAlike(
      await tenTimes(hosts, (host, id) => command(host, 't', 'input.inject', { message }, { key: 'i', id })),
    )
    expect(await count()).toBe(4)
  })
})

test('a key under which another command was sent is refused with 409, and nothing changes', async () => {
  const host = await serve(sharedMemory())
  const first = await command(host, 't', 'run.start', { input: { notes: ['a'], x: 1 } }, { key: 'k' })
  await host.thread('t').idle()
  const before = (await host.thread('t').get('')).body
  for (const [method, params] of [
    ['run.start', { input: { notes: ['b'], x: 1 } }],
    ['run.start', { input: { notes: ['a'], x: 1 }, multitaskStrategy: 'reject' }],
    ['state.fork', { checkpoint_id: 'c', input: { notes: ['a'], x: 1 } }],
  ] as const) {
    const { status, body } = await command(host, 't', method, params, { key: 'k', id: 7 })
    expect({ status, type: body.type, id: body.id, error: body.error }).toEqual({
      status: 409,
      type: 'error',
      id: 7,
      error: 'invalid_argument',
    })
    expect(body.message).toContain('idempotency key')
  }
  expect(await write(host, 't', { notes: ['c'] }, 'k')).toMatchObject({
    status: 409,
    body: { error: 'key_reused' },
  })
  expect((await host.thread('t').get('')).body).toEqual(before)
  // The order of keys and the id of the request do not make another command.
  const same = await command(host, 't', 'run.start', { input: { x: 1, notes: ['a'] } }, { key: 'k', id: 9 })
  expect(same.body).toEqual({ ...first.body, id: 9 })
  // A key belongs to its thread.
  const other = await command(host, 'u', 'run.start', { input: { notes: ['b'] } }, { key: 'k' })
  expect(other.body.type).toBe('success')
})

test('a key that is empty, long or not plain text is refused before anything is done', async () => {
  const host = await serve(sharedMemory())
  const bad = ['', 'x'.repeat(256), 'with space', 'ü']
  for (const key of bad) {
    const params = { input: {}, metadata: { command_id: key } }
    for (const answer of [
      await command(host, 't', 'run.start', params),
      ...(key === 'ü' ? [] : [await command(host, 't', 'run.start', { input: {} }, { key })]),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { type: 'error', error: 'invalid_argument' } })
      expect(answer.body.message).toMatch(/command_id|Idempotency-Key/)
    }
  }
  const number = await command(host, 't', 'run.start', { input: {}, metadata: { command_id: 5 } })
  expect(number.status).toBe(400)
  expect((await write(host, 't', {}, 'x'.repeat(256))).status).toBe(400)
  expect((await host.thread('t').get('')).status).toBe(404)
  const longest = await command(host, 't', 'run.start', { input: {} }, { key: 'x'.repeat(255) })
  expect(longest.body.type).toBe('success')
})

test('a refused command leaves nothing under its key', async () => {
  const host = await serve(sharedMemory())
  const path = '/threads/t/state'
  const refused = { values: {}, checkpoint_id: 'none' }
  expect((await request(host.origin, 'POST', path, refused, { 'idempotency-key': 'k' })).status).toBe(404)
  expect((await write(host, 't', { notes: ['good'] }, 'k')).status).toBe(200)
  const respond = { interrupt_id: 'none', response: 1 }
  expect((await command(host, 't', 'input.respond', respond, { key: 'r' })).body.error).toBe(
    'no_such_interrupt',
  )
  expect((await command(host, 't', 'run.start', { input: {} }, { key: 'r' })).body.type).toBe('success')
})

test('a key is kept for 24 hours', async () => {
  let now = Date.now()
  const host = await serve(sharedMemory({ now: () => now }))
  const send = async () =>
    (await command(host, 't', 'run.start', { input: {} }, { key: 'k' })).body.result.run_id
  const first = await send()
  await host.thread('t').idle()
  now += 24 * 3_600_000 - 1_000
  expect(await send()).toBe(first)
  now += 2_000
  expect(await send()).not.toBe(first)
})

describe('a process that is lost in the middle of writing a state', () => {
  /** An instance that is killed before or after it writes the checkpoint, or never. */
  function instance(shared: Shared, moment?: 'before' | 'after') {
    const { place, kill } = killable(shared(), (name, now) => {
      if (name === 'put' && now === moment) kill()
    })
    return createAgentEngine({
      agents: { ask: langgraph(approval()) },
      ...place,
      leaseTtlMs: 100,
      onError: () => {},
    })
  }

  const values = { notes: ['written'] }
  const put = (engine: AgentEngine, key = 'k') =>
    engine.writeState({ threadId: 't', values, command: { key, fingerprint: 'f' } })

  const notes = async (engine: AgentEngine) =>
    (await engine.readState((await engine.findThread({ threadId: 't' }))!))?.values.notes

  test.each(['before', 'after'] as const)(
    '%s the checkpoint is saved: the next process finishes the write once',
    async (moment) => {
      const shared = sharedMemory()
      const doomed = instance(shared, moment)
      await expect(put(doomed)).rejects.toThrow('gone')
      const other = instance(shared)
      const written = await put(other)
      expect(await notes(other)).toEqual(['written'])
      expect(await put(other)).toEqual(written)
      expect(await notes(other)).toEqual(['written'])
      await other.close()
    },
  )

  test('a later write hides whether this one was done, and the sender is told', async () => {
    const shared = sharedMemory()
    const doomed = instance(shared, 'after')
    await expect(put(doomed)).rejects.toThrow('gone')
    const other = instance(shared)
    const busy = async (): Promise<unknown> =>
      put(other, 'another').catch((error) => (error.code === 'thread_busy' ? busy() : Promise.reject(error)))
    await busy()
    await expect(put(other)).rejects.toMatchObject({ code: 'outcome_unknown' })
    expect(await notes(other)).toEqual(['written', 'written'])
    await other.close()
  })
})

test('POST /threads creates one thread, also where the server chooses its id', async () => {
  const shared = sharedMemory()
  const hosts = [await serve(shared), await serve(shared)]
  const create = (host: Host, body: object, key: string) =>
    request(host.origin, 'POST', '/threads', body, { 'idempotency-key': key })
  for (const [key, body] of Object.entries({ chosen: { thread_id: 'mine', metadata: { a: 1 } }, made: {} })) {
    const made = expectAlike(await tenTimes(hosts, (host) => create(host, body, key)))
    expect((await hosts[1]!.thread(made.thread_id).get('')).body).toEqual(made)
    expect((await create(hosts[0]!, { ...body, metadata: { a: 2 } }, key)).status).toBe(409)
  }
  expect((await request(hosts[0]!.origin, 'POST', '/threads', { thread_id: 'mine' })).status).toBe(409)
  expect((await request(hosts[0]!.origin, 'GET', '/threads')).body).toHaveLength(2)
})
