import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { nextTurn } from '../../src/core/time.ts'
import { headOf, internalsOf, subscribe } from '../../src/engine/index.ts'
import {
  type AgentEngine,
  createAgentServer,
  defineAgent,
  type LogGap,
  type ThreadEvent,
  textOf,
} from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { approval } from '../fixtures/graphs.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { sharedMemory } from '../kit/shared.ts'
import { eventually, gate } from '../kit/wait.ts'

const echo = defineAgent({
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})
const hello = { messages: [{ role: 'user', content: 'hello' }] }

function engine(...args: Parameters<typeof engineOf>): AgentEngine {
  const made = engineOf(...args)
  onTestFinished(() => made.close())
  return made
}

async function all(events: AsyncIterable<ThreadEvent | LogGap>): Promise<ThreadEvent[]> {
  const taken: ThreadEvent[] = []
  for await (const event of events) if (event.type === 'event') taken.push(event)
  return taken
}

const statesOf = (events: readonly ThreadEvent[]): unknown[] =>
  events
    .filter(({ method, namespace }) => method === 'lifecycle' && namespace.length === 0)
    .map(({ data }) => (data as { event: unknown }).event)

describe('a run to its end', () => {
  test('has a thread of its own, its messages and its last text', async () => {
    const agents = engine({ echo })
    const { threadId, ...first } = await agents.run({ input: 'hello' })
    expect(first).toMatchObject({ status: 'success', error: null, text: 'You said: hello', interrupts: [] })
    expect(first.messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
    const second = await agents.run({ threadId, input: hello })
    expect(second.threadId).toBe(threadId)
    expect(second.messages).toHaveLength(4)
    expect((await agents.run({ input: hello })).threadId).not.toBe(threadId)
  })

  test('of a graph asks, and goes on with the answers', async () => {
    const agents = engine({ approval: langgraph(approval()) })
    const principal = { id: 'ada' }
    const asked = await agents.run({ input: {}, principal })
    expect(asked).toMatchObject({ status: 'interrupted', messages: [], text: '' })
    const answers = Object.fromEntries(asked.interrupts.map(({ id }) => [id, true]))
    const done = await agents.run({ threadId: asked.threadId, principal, answers })
    expect(done).toMatchObject({ status: 'success', interrupts: [] })
    await expect(agents.run({ threadId: asked.threadId, input: {} })).rejects.toThrow('not found')
  })

  test('of a thread without an answer since the user spoke has no text', async () => {
    const shy = defineAgent({ run: ({ messages }) => (messages.length > 1 ? undefined : 'Hello.') })
    const agents = engine({ shy })
    const { threadId } = await agents.run({ input: 'hello' })
    const { text, messages } = await agents.run({ threadId, input: 'and?' })
    expect([text, messages.length]).toEqual(['', 3])
  })
})

describe('code on the server', () => {
  test('starts a run, waits for it and reads the state, as a named principal and without HTTP', async () => {
    const agents = engine({ echo })
    const principal = { id: 'cron' }
    const { runId } = await agents.start({ threadId: 't', principal, input: hello })
    expect(await agents.wait({ threadId: 't', principal, runId })).toEqual({
      runId,
      status: 'success',
      error: null,
      interrupts: [],
    })
    const state = await agents.readState((await agents.findThread({ threadId: 't', principal }))!)
    expect(state?.values.messages).toMatchObject([{ content: 'hello' }, { content: 'You said: hello' }])
  })

  test('is refused what belongs to another principal, as if there were nothing', async () => {
    const agents = engine({ echo })
    const { runId } = await agents.start({ threadId: 't', principal: { id: 'ann' }, input: hello })
    const bob = { threadId: 't', principal: { id: 'bob' } }
    expect(await agents.findThread(bob)).toBeUndefined()
    expect(await agents.deleteThread(bob)).toBe(false)
    expect(await headOf(agents, bob)).toBe(0)
    await expect(agents.start({ ...bob, input: hello })).rejects.toMatchObject({ code: 'no_such_thread' })
    await expect(agents.wait({ ...bob, runId })).rejects.toMatchObject({ code: 'no_such_run' })
    await expect(agents.cancel({ ...bob, runId })).rejects.toMatchObject({ code: 'no_such_run' })
    await expect(all(agents.events({ ...bob, runId }))).rejects.toMatchObject({ code: 'no_such_run' })
    await expect(agents.patchThread({ ...bob, metadata: {} })).rejects.toMatchObject({
      code: 'no_such_thread',
    })
  })

  test('shares a thread with the principals of its tenant, and the agent learns who calls', async () => {
    const actor = puppet()
    const agents = engine({ a: actor.agent })
    const ann = { id: 'ann', tenant: 'acme' }
    await start(agents, 't', {}, { principal: ann })
    expect(await agents.findThread({ threadId: 't', principal: { id: 'bob', tenant: 'acme' } })).toBeDefined()
    await eventually(() => actor.tasks.length > 0)
    expect(actor.tasks[0]?.config.configurable).toEqual({
      langgraph_auth_user: ann,
      langgraph_auth_user_id: 'ann',
    })
    actor.finish()
  })

  test('answers an interrupt, and writes and reads state', async () => {
    const agents = engine({ ask: langgraph(approval()) })
    const thread = { threadId: 't' }
    const asked = await agents.start({ ...thread, input: { notes: ['a'] } })
    const { status, interrupts } = await agents.wait({ ...thread, ...asked })
    expect(status).toBe('interrupted')
    const answered = await agents.respond({ ...thread, answers: { [interrupts[0]!.id]: 'yes' } })
    expect(await agents.wait({ ...thread, ...answered })).toMatchObject({ status: 'success', interrupts: [] })
    await agents.writeState({ ...thread, values: { notes: ['written'] } })
    const record = await agents.findThread(thread)
    expect((await agents.readState(record!))?.values.notes).toContain('written')
    const steps: unknown[] = []
    for await (const { metadata } of agents.readHistory(record!, {}, { limit: 2 }))
      steps.push(metadata.source)
    expect(steps[0]).toBe('update')
    await expect(agents.respond({ ...thread, answers: { none: 1 } })).rejects.toMatchObject({
      code: 'no_such_interrupt',
    })
  })

  test('may use the LangGraph client in process, over server.fetch', async () => {
    const server = createAgentServer({ agents: { echo }, authenticate: () => ({ id: 'ann' }) })
    onTestFinished(() => server.close())
    const inProcess = ((url: string | URL | Request, init?: RequestInit) =>
      server.fetch(new Request(url, init))) as typeof fetch
    const client = new Client({
      apiUrl: 'http://in.process',
      callerOptions: { fetch: inProcess, maxRetries: 0 },
    })
    const thread = client.threads.stream({ assistantId: 'echo', fetch: inProcess })
    onTestFinished(() => thread.close())
    const messages = thread.messages[Symbol.asyncIterator]()
    await thread.run.start({ input: hello })
    const { value: message } = await messages.next()
    expect(await message!.text).toBe('You said: hello')
    const [record] = await client.threads.search()
    expect(
      await server.engine.findThread({ threadId: record!.thread_id, principal: { id: 'ann' } }),
    ).toBeDefined()
  })
})

describe('engine.wait', () => {
  test('gives what a run has ended with', async () => {
    const agents = engine({ echo, asks: langgraph(approval()) })
    const ended = async (agent: string) => {
      const { runId } = await agents.start({ threadId: agent, assistantId: agent, input: hello })
      return { result: await agents.wait({ threadId: agent, runId }), runId }
    }
    const done = await ended('echo')
    expect(done.result).toEqual({ runId: done.runId, status: 'success', error: null, interrupts: [] })
    const asking = await ended('asks')
    const interrupts = [{ id: expect.any(String), value: expect.anything() }]
    expect(asking.result).toEqual({ runId: asking.runId, status: 'interrupted', error: null, interrupts })
  })

  test('gives an interrupted run where the thread is deleted meanwhile', async () => {
    const agents = engine({ a: puppet().agent })
    const { runId } = await start(agents, 't')
    const waiting = agents.wait({ threadId: 't', runId })
    // A wait begins with a look for the run.
    await nextTurn()
    await agents.deleteThread({ threadId: 't' })
    expect(await waiting).toEqual({ runId, status: 'interrupted', error: null, interrupts: [] })
  })
})

describe('engine.events', () => {
  test('gives what the log has and what comes, with the numbers that subscribers see', async () => {
    const actor = puppet()
    const agents = engine({ a: actor.agent })
    const { runId } = await start(agents, 't')
    actor.emit(custom('past', ['tools:1']))
    await eventually(async () => (await headOf(agents, { threadId: 't' })) === 2)
    const reading = all(agents.events({ threadId: 't', runId }))
    actor.emit(custom('to come'))
    actor.finish()
    const events = await reading
    expect(events.map(({ method, namespace, data }) => [method, namespace, data])).toMatchObject([
      ['lifecycle', [], { event: 'running' }],
      ['custom', ['tools:1'], { payload: 'past' }],
      ['custom', [], { payload: 'to come' }],
      ['lifecycle', [], { event: 'completed' }],
    ])
    const wire = await transcript(agents, 't')
    expect(events.map(({ eventId, seq }) => [eventId, seq])).toEqual(
      wire.map(({ event_id, seq }) => [event_id, seq]),
    )
    expect(new Set(events.map((event) => event.runId))).toEqual(new Set([runId]))
    expect(Object.keys(events[0]!).toSorted()).toEqual(
      ['type', 'eventId', 'seq', 'method', 'namespace', 'timestamp', 'runId', 'data'].toSorted(),
    )
    expect(events.every(({ timestamp }) => Math.abs(Date.now() - timestamp) < 60_000)).toBe(true)
  })

  test('of a run that has ended gives its own events, and ends', async () => {
    const actor = puppet()
    const agents = engine({ a: actor.agent })
    const runs = [await start(agents, 't'), await start(agents, 't')]
    actor.finish()
    actor.finish()
    for (const { runId } of runs) await agents.wait({ threadId: 't', runId })
    for (const { runId } of runs) {
      const events = await all(agents.events({ threadId: 't', runId }))
      expect(statesOf(events)).toEqual(['running', 'completed'])
      expect(events.every((event) => event.runId === runId)).toBe(true)
    }
  })

  test('of a run that is dropped while it waits ends without an event', async () => {
    const actor = puppet()
    const agents = engine({ a: actor.agent })
    await start(agents, 't')
    const { runId } = await start(agents, 't')
    const reading = all(agents.events({ threadId: 't', runId }))
    await agents.cancel({ threadId: 't', runId })
    expect(await reading).toEqual([])
    actor.finish()
  })

  test('with a filter leaves out the rest, and still ends with the run', async () => {
    const actor = puppet()
    const agents = engine({ a: actor.agent })
    const { runId } = await start(agents, 't')
    const reading = all(agents.events({ threadId: 't', runId, filter: { channels: ['custom'] } }))
    actor.emit(custom(1), { method: 'values', namespace: [], data: {} }, custom(2))
    actor.finish()
    expect((await reading).map(({ method }) => method)).toEqual(['custom', 'custom'])
  })

  test.each([
    ['the channel', {}, ['running', 'completed']],
    ['the root alone', { namespaces: [[]], depth: 0 }, ['running', 'completed']],
    ['a namespace below', { namespaces: [['tools:1']] }, []],
  ])('with a filter for the lifecycle of %s gives its states', async (_, places, expected) => {
    const actor = puppet()
    const agents = engine({ a: actor.agent })
    const { runId } = await start(agents, 't')
    const filter = { channels: ['lifecycle'], ...places }
    const reading = all(agents.events({ threadId: 't', runId, filter }))
    actor.emit(custom(1))
    actor.finish()
    expect(statesOf(await reading)).toEqual(expected)
  })

  test('without a run goes on over all runs, from a sequence number', async () => {
    const actor = puppet()
    const agents = engine({ a: actor.agent })
    const taken: ThreadEvent[] = []
    await start(agents, 't')
    actor.finish()
    const events = agents.events({ threadId: 't', after: 1 })
    for await (const event of events) {
      if (event.type !== 'event') continue
      taken.push(event)
      if (taken.length === 1) {
        await start(agents, 't')
        actor.finish()
      }
      if (taken.length === 3) break
    }
    expect(statesOf(taken)).toEqual(['completed', 'running', 'completed'])
    expect((await agents.measure()).subscribers).toBe(0)
  })

  test('tells of a gap where the log has dropped what was asked for', async () => {
    const actor = puppet()
    const agents = engine({ a: actor.agent }, { store: memoryStore({ maxThreadBytes: 2_000 }) })
    const { runId } = await start(agents, 't')
    actor.emit(...Array.from({ length: 50 }, (_, at) => custom('x'.repeat(100) + at)))
    actor.finish()
    await agents.wait({ threadId: 't', runId })
    await start(agents, 't')
    const [first] = await take(agents.events({ threadId: 't' }), 1)
    expect(first).toMatchObject({ type: 'gap', after: 0 })
    expect((first as LogGap).firstRetained).toBeGreaterThan(1)
    actor.finish()
  })

  test('tells of a gap in the events of a run that has ended', async () => {
    const actor = puppet()
    const agents = engine({ a: actor.agent }, { store: memoryStore({ maxThreadBytes: 2_000 }) })
    const { runId } = await start(agents, 't')
    actor.emit(...Array.from({ length: 50 }, (_, at) => custom('x'.repeat(100) + at)))
    actor.finish()
    await agents.wait({ threadId: 't', runId })
    const events = await take(agents.events({ threadId: 't', runId }), 1_000)
    expect(events[0]).toMatchObject({ type: 'gap', after: 0 })
    const { firstRetained } = events[0] as LogGap
    const kept = events.filter((event): event is ThreadEvent => event.type === 'event')
    expect(kept.find((event) => event.runId === runId)!.seq).toBe(firstRetained)
    expect(statesOf(kept)).toEqual(['completed'])
    const seen = await take(agents.events({ threadId: 't', runId, after: firstRetained - 1 }), 1_000)
    expect(seen.filter(({ type }) => type === 'gap')).toEqual([])
  })

  test('reads on one instance what another one runs', async () => {
    const shared = sharedMemory()
    const actor = puppet()
    const one = engine({ a: actor.agent }, { ...shared(), leaseTtlMs: 1_000 })
    const other = engine({ a: puppet().agent }, { ...shared(), leaseTtlMs: 1_000 })
    const { runId } = await start(one, 't')
    const reading = all(other.events({ threadId: 't', runId }))
    const waiting = other.wait({ threadId: 't', runId })
    actor.emit(custom(1))
    actor.finish()
    expect(statesOf(await reading)).toEqual(['running', 'completed'])
    expect((await waiting).status).toBe('success')
  })

  test('ends with the reason of a signal, and with an error when the engine closes', async () => {
    const agents = engine({ a: puppet().agent })
    const { runId } = await start(agents, 't')
    const leave = new AbortController()
    const left = all(agents.events({ threadId: 't', signal: leave.signal }))
    const cut = all(agents.events({ threadId: 't' }))
    const told = all(agents.events({ threadId: 't', runId }))
    await eventually(async () => (await agents.measure()).subscribers >= 3)
    leave.abort(new Error('enough'))
    await expect(left).rejects.toThrow('enough')
    const ended = Promise.allSettled([cut, told])
    await agents.close()
    const [closed, stopped] = await ended
    expect(closed).toMatchObject({ status: 'rejected', reason: { code: 'closing' } })
    expect(stopped).toMatchObject({ status: 'fulfilled' })
  })

  test('of a thread that is deleted ends with no_such_thread', async () => {
    const actor = puppet()
    const agents = engine({ a: actor.agent })
    await start(agents, 't')
    const events = agents.events({ threadId: 't' })
    await events.next()
    const next = all(events)
    await agents.deleteThread({ threadId: 't' })
    await expect(next).rejects.toMatchObject({ code: 'no_such_thread' })
  })
})

test('measure counts runs, subscribers, and how far the slowest one is behind', async () => {
  const actor = puppet()
  const agents = engine({ a: actor.agent })
  const waits = await start(agents, 't')
  await start(agents, 't')
  await start(agents, 't')
  const stalled = subscribe(agents, { threadId: 't', filter: { channels: ALL_CHANNELS }, since: 0 })
  await stalled.next()
  expect(await agents.measure()).toEqual({ running: 1, queued: 2, subscribers: 1, lag: 0 })
  const reading = agents.events({ threadId: 't', filter: { channels: ['lifecycle'] } })
  actor.emit(...Array.from({ length: 20 }, (_, at) => custom(at)))
  actor.finish()
  await agents.wait({ threadId: 't', runId: waits.runId })
  await take(reading, 3)
  expect((await agents.measure()).lag).toBeGreaterThanOrEqual(20)
  stalled.cancel()
  expect(await agents.measure()).toMatchObject({ subscribers: 0, lag: 0 })
  actor.finish()
  actor.finish()
})

async function take<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = []
  for await (const item of items) if (taken.push(item) === count) break
  return taken
}

test('agents in a map can change: new runs take what it has, one under way keeps its own, and a lone agent is the default', async () => {
  const { opened, open } = gate()
  const saying = (text: string, first = Promise.resolve()) =>
    defineAgent({
      async run({ message }) {
        await first
        await message(text)
      },
    })
  const agents = new Map([['first', saying('old', opened)]])
  const changing = engine({}, { agents })
  expect(internalsOf(changing).defaultAgent).toBe('first')
  const { runId } = await changing.start({ threadId: 'one', input: hello })

  agents.set('first', saying('new')).set('second', saying('other'))
  expect(internalsOf(changing).defaultAgent).toBeUndefined()
  const later = await changing.start({ threadId: 'two', assistantId: 'first', input: hello })
  const other = await changing.start({ threadId: 'three', assistantId: 'second', input: hello })
  open()
  await changing.wait({ threadId: 'one', runId })
  await changing.wait({ threadId: 'two', runId: later.runId })
  await changing.wait({ threadId: 'three', runId: other.runId })
  const lastOf = async (threadId: string) => {
    const thread = await changing.findThread({ threadId })
    const state = await changing.readState(thread!)
    return (state!.values.messages as { content: unknown }[]).at(-1)
  }
  expect(JSON.stringify(await lastOf('one'))).toContain('old')
  expect(JSON.stringify(await lastOf('two'))).toContain('new')
  expect(JSON.stringify(await lastOf('three'))).toContain('other')

  agents.delete('first')
  expect(internalsOf(changing).defaultAgent).toBe('second')
  await expect(
    changing.start({ threadId: 'four', assistantId: 'first', input: hello }),
  ).rejects.toMatchObject({ code: 'invalid_argument' })
})

describe('a request that code on the server has misspelled', () => {
  const channels = ['message']
  const requests: Readonly<Record<string, readonly [object, string]>> = {
    'start without a thread': [{ input: hello }, 'engine.start: threadId is missing. It must be a string.'],
    'start with an empty thread': [{ threadId: '' }, 'threadId must not be empty'],
    'start with a number as thread': [{ threadId: 7 }, 'threadId must be a string, not 7'],
    'start with another name': [{ thread_id: 't' }, 'unknown option thread_id. Did you mean threadId?'],
    'start with an assistant of its wire name': [
      { threadId: 't', assistant_id: 'echo' },
      'Did you mean assistantId?',
    ],
    'start with a strategy': [
      { threadId: 't', multitaskStrategy: 'interupt' },
      'multitaskStrategy must be one of reject, rollback, interrupt, enqueue, not "interupt". Did you mean interrupt?',
    ],
    'start with a limit of its wire name': [
      { threadId: 't', config: { configurable: {}, recursion_limit: 5 } },
      'unknown option config.recursion_limit. Did you mean config.recursionLimit?',
    ],
    'start with a text as principal': [{ threadId: 't', principal: 'ann' }, 'principal must be an object'],
    'respond without answers': [{ threadId: 't' }, 'engine.respond: answers is missing'],
    'respond with an input': [{ threadId: 't', answers: {}, input: 1 }, 'unknown option input'],
    'respond with a list': [{ threadId: 't', answers: ['yes'] }, 'answers must be an object, not an array'],
    'wait without a run': [{ threadId: 't' }, 'engine.wait: runId is missing. It must be a string.'],
    'wait with a number as run': [{ threadId: 't', runId: 7 }, 'runId must be a string, not 7'],
  }

  test.each(Object.entries(requests))(
    '%s is refused, and nothing is written',
    async (call, [request, text]) => {
      const agents = engine({ echo })
      const method = call.split(' ')[0] as 'start'
      const error = await agents[method](request as never).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'RunError', code: 'invalid_argument' })
      expect((error as Error).message).toContain(text)
      expect(await agents.countThreads()).toBe(0)
    },
  )

  test('a filter of unknown channels is refused', async () => {
    const agents = engine({ echo })
    const events = agents.events({ threadId: 't', filter: { channels } })
    await expect(events.next()).rejects.toThrow('Did you mean messages?')
  })

  test('null counts as absent where it may be, and a receipt can be spread', async () => {
    const agents = engine({ echo })
    const receipt = await agents.start({ threadId: 't', principal: null, traceparent: null, input: hello })
    expect(await agents.wait({ threadId: 't', ...receipt })).toMatchObject({ status: 'success' })
  })
})
