import { describe, expect, test } from 'vitest'
import { serve } from '../../../adapters/node/serve.ts'
import { createAgentServer, defineAgent, memoryCheckpointer, memoryStore } from '../../../src/index.ts'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import { isTerminal, type WireEvent } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { openSocket, refusedSocket, socketUrl, type TestSocket } from '../../kit/socket.ts'

const counting = defineAgent({
  async run({ custom, input }) {
    const { count = 5 } = input as { count?: number }
    for (let n = 0; n < count; n++) custom({ name: 'tick', payload: n })
  },
})

const agents = { a: counting }

const ended =
  (runs = 1) =>
  (events: readonly WireEvent[]) =>
    events.filter(isTerminal).length >= runs

const seqs = (events: readonly WireEvent[]) => events.map(({ seq }) => seq)

const oneTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

async function subscribe(socket: TestSocket, params: object = {}): Promise<string> {
  const answer = await socket.command('subscription.subscribe', { channels: ALL_CHANNELS, ...params })
  expect(answer).toMatchObject({ type: 'success', result: { subscription_id: expect.any(String) } })
  return answer.result.subscription_id
}

describe('one socket for all', () => {
  test('takes commands, answers them, and carries the events', async () => {
    const host = await serveAgents({ agents })
    const socket = await openSocket(socketUrl(host.origin, 't'))
    await subscribe(socket)
    const answer = await socket.command('run.start', { assistant_id: 'a', input: {} })
    expect(answer).toMatchObject({ type: 'success', meta: { thread_id: 't', applied_through_seq: 0 } })
    const events = await socket.until(ended())
    const { events: overSse } = { events: await host.thread('t').transcript() }
    expect(events).toEqual(overSse)
  })

  test('answers a subscription before it sends the past', async () => {
    const host = await serveAgents({ agents })
    await host.thread('t').start()
    await host.thread('t').idle()
    const socket = await openSocket(socketUrl(host.origin, 't'))
    await subscribe(socket)
    await socket.until(ended())
    expect(socket.received.map(({ type }) => type)).toEqual(['success', ...socket.events.map(() => 'event')])
  })

  test('sends an event once, however many subscriptions want it, and in the order of the log', async () => {
    const host = await serveAgents({ agents })
    const socket = await openSocket(socketUrl(host.origin, 't'))
    await subscribe(socket, { channels: ['lifecycle'] })
    await subscribe(socket)
    await subscribe(socket, { channels: ['custom'] })
    await socket.command('run.start', { assistant_id: 'a', input: { count: 500 } })
    await socket.until(ended())
    await socket.command('run.start', { assistant_id: 'a', input: { count: 500 } })
    const events = await socket.until(ended(2))
    expect(seqs(events)).toEqual(oneTo(events.length))
  })

  test('lets subscriptions that come one after the other begin together', async () => {
    const host = await serveAgents({ agents })
    await host.thread('t').start()
    await host.thread('t').idle()
    const socket = await openSocket(socketUrl(host.origin, 't'))
    await subscribe(socket, { channels: ['lifecycle'] })
    await subscribe(socket)
    const events = await socket.until(ended())
    expect(seqs(events)).toEqual(oneTo(events.length))
  })

  test('sends a later subscription the whole past, in order, before anything new', async () => {
    const host = await serveAgents({ agents })
    const socket = await openSocket(socketUrl(host.origin, 't'))
    await subscribe(socket, { channels: ['lifecycle'] })
    await socket.command('run.start', { assistant_id: 'a', input: { count: 300 } })
    await socket.until(ended())
    const before = socket.events.length
    const late = subscribe(socket)
    const second = socket.command('run.start', { assistant_id: 'a', input: { count: 300 } })
    await Promise.all([late, second])
    await socket.until(ended(3))
    const after = seqs(socket.events.slice(before))
    expect(after).toEqual([...after].sort((a, b) => a - b))
    expect(new Set(after).size).toBe(after.length)
    expect(after.at(0)).toBe(1)
  })

  test('sends nothing new before the past of a subscription that begins after the commands behind it', async () => {
    const host = await serveAgents({ agents })
    const socket = await openSocket(socketUrl(host.origin, 't'))
    await subscribe(socket, { channels: ['lifecycle'] })
    await socket.command('run.start', { assistant_id: 'a', input: {} })
    await socket.until(ended())
    const before = socket.events.length
    const late = subscribe(socket)
    const behind = ['run.start', ...Array(50).fill('agent.getTree')].map((method) =>
      socket.command(method, { assistant_id: 'a', input: {} }),
    )
    await Promise.all([late, ...behind])
    await socket.until(ended(3))
    const after = seqs(socket.events.slice(before))
    expect(after).toEqual(oneTo(after.length))
  })

  test('ends a subscription alone', async () => {
    const host = await serveAgents({ agents })
    const socket = await openSocket(socketUrl(host.origin, 't'))
    const all = await subscribe(socket)
    await subscribe(socket, { channels: ['lifecycle'] })
    expect(await socket.command('subscription.unsubscribe', { subscription_id: all })).toMatchObject({
      type: 'success',
      result: {},
    })
    expect(await socket.command('subscription.unsubscribe', { subscription_id: all })).toMatchObject({
      type: 'error',
      error: 'no_such_subscription',
    })
    await socket.command('run.start', { assistant_id: 'a', input: {} })
    const events = await socket.until(ended())
    expect(new Set(events.map(({ method }) => method))).toEqual(new Set(['lifecycle']))
  })

  test('goes on where another socket has stopped', async () => {
    const host = await serveAgents({ agents })
    const first = await openSocket(socketUrl(host.origin, 't'))
    const subscription = await subscribe(first)
    const { result } = await first.command('run.start', { assistant_id: 'a', input: {} })
    const events = await first.until(ended())
    first.socket.terminate()
    const second = await openSocket(socketUrl(host.origin, 't'))
    const answer = await second.command('subscription.reconnect', {
      run_id: result.run_id,
      last_event_id: events[2]!.event_id,
      subscriptions: [subscription],
    })
    expect(answer.result).toEqual({
      restored: true,
      current_namespaces: [{ namespace: [], status: 'completed' }],
    })
    expect(await second.until(ended())).toEqual(events.slice(3))
    const unknown = { run_id: result.run_id, subscriptions: ['7'] }
    expect((await second.command('subscription.reconnect', unknown)).result.restored).toBe(false)
    expect(await second.command('subscription.reconnect', { run_id: 'none' })).toMatchObject({
      error: 'no_such_run',
    })
  })
})

test('a socket behind the first retained event gets the gap and the state, and then all there is', async () => {
  const store = memoryStore({ maxThreadBytes: 4_000 })
  const stateful = defineAgent({
    async run({ custom, message }) {
      for (let n = 0; n < 30; n++) custom({ name: 'tick', payload: n })
      await message('Done.')
    },
  })
  const host = await serveAgents({ agents: { a: stateful }, store, checkpointer: memoryCheckpointer() })
  for (const _ of [1, 2, 3]) {
    await host.thread('t').start()
    await host.thread('t').idle()
  }
  await store.sweep()
  const { firstRetained, head } = await store.inspect('t')
  expect(firstRetained).toBeGreaterThan(10)
  const socket = await openSocket(socketUrl(host.origin, 't'))
  await subscribe(socket, { since: 3 })
  await socket.until((events) => events.at(-1)?.seq === head)
  const [, gap, checkpoints, values, ...rest] = socket.received
  expect(gap).toEqual({ type: 'gap', after: 3, first_retained: firstRetained })
  expect(checkpoints).toMatchObject({ type: 'event', method: 'checkpoints' })
  expect(values).toMatchObject({
    seq: firstRetained - 1,
    params: { data: { messages: Array(3).fill({ content: 'Done.' }) } },
  })
  expect(rest.map(({ seq }) => seq)).toEqual(
    Array.from({ length: head - firstRetained + 1 }, (_, i) => firstRetained + i),
  )
})

describe('a socket for each subscription, as the Python client has it', () => {
  test.each([
    ['a command', (filter: object) => ({ id: 1, method: 'subscription.subscribe', params: filter })],
    ['the bare filter', (filter: object) => filter],
  ])('begins with %s, and honours since', async (_, frame) => {
    const host = await serveAgents({ agents })
    await host.thread('t').start()
    const all = await host.thread('t').transcript()
    const socket = await openSocket(socketUrl(host.origin, 't'))
    socket.send(frame({ channels: ALL_CHANNELS, since: 3 }))
    expect(await socket.until(ended())).toEqual(all.slice(3))
  })

  test('the bare filter gets events and no answer', async () => {
    const host = await serveAgents({ agents })
    await host.thread('t').start()
    const socket = await openSocket(socketUrl(host.origin, 't'))
    socket.send({ channels: ALL_CHANNELS })
    await socket.until(ended())
    expect(socket.received.filter(({ type }) => type !== 'event')).toEqual([])
  })
})

describe('the end', () => {
  test('of a thread ends its sockets with a code that clients take as final', async () => {
    const host = await serveAgents({ agents })
    await host.thread('t').start()
    await host.thread('t').idle()
    const socket = await openSocket(socketUrl(host.origin, 't'))
    await subscribe(socket)
    await socket.until(ended())
    expect((await host.thread('t').request('DELETE', '')).status).toBe(204)
    expect((await socket.closed)[0]).toBe(4404)
    const late = await openSocket(socketUrl(host.origin, 't'))
    late.send({ channels: ALL_CHANNELS })
    expect((await late.closed)[0]).toBe(4404)
  })

  test('of the server ends every socket once it has its events, with the code that its client comes back after', async () => {
    const host = await serveAgents({ agents })
    const reading = await openSocket(socketUrl(host.origin, 't'))
    await subscribe(reading)
    const silent = await openSocket(socketUrl(host.origin, 'u'))
    const filtered = await openSocket(socketUrl(host.origin, 't'))
    filtered.send({ channels: ALL_CHANNELS })
    const headers = { 'user-agent': 'Python/3.11 websockets/16.1.1' }
    const python = await openSocket(socketUrl(host.origin, 't'), { headers })
    await subscribe(python)
    await reading.command('run.start', { assistant_id: 'a', input: { count: 2_000 } })
    await host.server.close()
    expect((await silent.closed)[0]).toBe(1001)
    expect((await reading.closed)[0]).toBe(1001)
    expect((await filtered.closed)[0]).toBe(1012)
    expect((await python.closed)[0]).toBe(1012)
    for (const { events } of [reading, filtered, python]) expect(events.filter(isTerminal)).toHaveLength(1)
  })

  test('of a server that `serve` listens with is told, and not only seen by a lost connection', async () => {
    const server = createAgentServer({ agents, authenticate: () => ({ id: 'one' }) })
    const { origin, close } = await serve(server, { port: 0, silent: true })
    const reading = await openSocket(socketUrl(origin, 't'))
    await subscribe(reading)
    const silent = await openSocket(socketUrl(origin, 'u'))
    await close()
    expect((await reading.closed)[0]).toBe(1001)
    expect((await silent.closed)[0]).toBe(1001)
  })
})

describe('the handshake', () => {
  const authenticate = (request: Request) => {
    const token = request.headers.get('authorization') ?? request.headers.get('cookie')
    return token ? { id: token } : null
  }

  test('needs what every request needs', async () => {
    const host = await serveAgents({ agents, authenticate })
    const url = socketUrl(host.origin, 't')
    expect((await refusedSocket(url)).status).toBe(401)
    for (const [name, value] of [
      ['authorization', 'Bearer one'],
      ['cookie', 'a=one'],
    ] as const) {
      const socket = await openSocket(url, { headers: { [name]: value } })
      socket.socket.terminate()
    }
  })

  test('takes a token from the subprotocol, and answers with another one', async () => {
    const host = await serveAgents({ agents, authenticate })
    const url = socketUrl(host.origin, 't')
    const socket = await openSocket(url, { protocols: ['agentwire', 'bearer.a%2Fb'] })
    expect(socket.socket.protocol).toBe('agentwire')
    await subscribe(socket)
    await socket.command('run.start', { assistant_id: 'a', input: {} })
    await socket.until(ended())
    const same = await host.thread('t', { authorization: 'Bearer a/b' }).get('')
    const other = await host.thread('t', { authorization: 'Bearer b' }).get('')
    expect([same.status, other.status]).toEqual([200, 404])
  })

  test('asks for threads:stream, and each command for its own permission', async () => {
    const asked: string[] = []
    const host = await serveAgents({
      agents,
      authorize: (_, action, { threadId }) => {
        asked.push(action)
        return threadId !== 'closed' && action !== 'runs:create'
      },
    })
    expect((await refusedSocket(socketUrl(host.origin, 'closed'))).status).toBe(403)
    const socket = await openSocket(socketUrl(host.origin, 't'))
    expect(await socket.command('run.start', { assistant_id: 'a' })).toMatchObject({
      error: 'permission_denied',
    })
    expect(asked).toEqual(['threads:stream', 'threads:stream', 'runs:create'])
  })

  test("of another owner's thread shows nothing of it", async () => {
    const host = await serveAgents({ agents, authenticate })
    await host.thread('t', { authorization: 'one' }).start()
    await host.thread('t', { authorization: 'one' }).transcript()
    const socket = await openSocket(socketUrl(host.origin, 't'), { headers: { authorization: 'two' } })
    await subscribe(socket)
    expect(await socket.command('state.get', {})).toMatchObject({ error: 'no_such_run' })
    expect(socket.events).toEqual([])
  })

  test.each([
    ['no page', undefined, {}, 101],
    ['the same origin', 'SELF', {}, 101],
    ['another origin', 'https://evil.example', {}, 403],
    ['no origin that can be told', 'null', {}, 403],
    ['an allowed origin', 'https://app.example', { cors: { origins: 'https://app.example' } }, 101],
    [
      'another one than the allowed',
      'https://evil.example',
      { cors: { origins: 'https://app.example' } },
      403,
    ],
    ['any origin, where all are', 'https://any.example', { cors: { origins: '*' } }, 101],
  ])('from %s', async (_, origin, http, expected) => {
    const host = await serveAgents({ agents, http })
    const headers: Record<string, string> = origin ? { origin: origin === 'SELF' ? host.origin : origin } : {}
    const url = socketUrl(host.origin, 't')
    if (expected === 101) await openSocket(url, { headers })
    else expect((await refusedSocket(url, { headers })).status).toBe(expected)
  })

  test('of an allowed page counts its cookies only with credentials', async () => {
    const headers = { origin: 'https://app.example', cookie: 'a=b' }
    const cors = { origins: 'https://app.example' }
    const without = await serveAgents({ agents, authenticate, http: { cors } })
    expect((await refusedSocket(socketUrl(without.origin, 't'), { headers })).status).toBe(401)
    const withThem = await serveAgents({
      agents,
      authenticate,
      http: { cors: { ...cors, credentials: true } },
    })
    await openSocket(socketUrl(withThem.origin, 't'), { headers })
  })

  test('is all that GET takes there', async () => {
    const host = await serveAgents({ agents })
    const answer = await host.thread('t').get('/stream/events')
    expect([answer.status, answer.headers.get('upgrade')]).toEqual([426, 'websocket'])
    expect((await refusedSocket(`${host.origin.replace('http', 'ws')}/nothing`)).status).toBe(404)
  })

  test('on a closing server is refused for now', async () => {
    const host = await serveAgents({ agents, store: memoryStore() })
    await host.server.close()
    expect((await refusedSocket(socketUrl(host.origin, 't'))).status).toBe(503)
    expect(host.errors.splice(0)).toMatchObject([{ code: 'closed' }])
  })
})
