import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { memoryCheckpointer, memoryStore } from '../../src/index.ts'
import {
  approval,
  calculator,
  chat,
  nestedApproval,
  researchers,
  supervised,
  threeSteps,
  twoApprovals,
} from '../fixtures/graphs.ts'
import { dataOf, isRoot, isTerminal, rootStates, type WireEvent } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'
import { gate } from '../kit/wait.ts'

/**
 * The rules of the protocol that break a real client when missed, one test each. Rule by rule: docs/protocol.md §1.3, §4.7, §4.3,
 * §4.4, §4.5, §5.3, §5.6, §3.1, §10.1, §7.2, §6.4, §7.2, §5.7, §5.2, §4.4, §6.4, §3.2, §5.3.
 */

const question = { messages: [{ type: 'human', content: 'Q', id: 'h1' }] }

const seqs = (events: readonly WireEvent[]) => events.map(({ seq }) => seq)
const ids = (events: readonly WireEvent[]) => events.map(({ event_id }) => event_id)

function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...keysOf(item),
  ])
}

const CAMEL = [
  'eventId',
  'assistantId',
  'runId',
  'threadId',
  'interruptId',
  'toolCallId',
  'toolName',
  'graphName',
  'parentId',
  'fromNode',
  'mimeType',
  'inputTokens',
  'outputTokens',
  'appliedThroughSeq',
  'checkpointId',
  'checkpointNs',
]

test('rule 1: names on the wire are snake_case', async () => {
  const host = await serveAgents({
    agents: { deep: langgraph(researchers()), ask: langgraph(supervised()) },
  })
  const deep = host.thread()
  const started = await deep.command('run.start', { assistant_id: 'deep', input: question })
  const ask = host.thread()
  await ask.start(question, { assistant_id: 'ask' })
  const events = [...(await deep.transcript()), ...(await ask.transcript())]
  const states = [await deep.get('/state'), await ask.get('/state'), await deep.post('/history')]
  const records = [await deep.get(''), await ask.get('')]
  const keys = new Set(
    keysOf([started, events, states.map(({ body }) => body), records.map(({ body }) => body)]),
  )
  expect(CAMEL.filter((name) => keys.has(name))).toEqual([])
  for (const name of [
    'event_id',
    'run_id',
    'thread_id',
    'interrupt_id',
    'tool_call_id',
    'tool_name',
    'graph_name',
  ])
    expect(keys).toContain(name)
})

test('rule 2: an event stream outlives its runs, and the server breaks it off instead of ending it', async () => {
  const host = await serveAgents({ agents: { chat: langgraph(chat()) } })
  const thread = host.thread()
  await thread.start(question)
  const stream = await thread.stream()
  await stream.until((events) => events.filter(isTerminal).length === 1)
  await thread.start(question)
  const events = await stream.until((seen) => seen.filter(isTerminal).length === 2)
  expect(rootStates(events)).toEqual(['running', 'completed', 'running', 'completed'])
  await host.server.close()
  expect(await stream.ended).toBe('broken')
})

test('rule 3: the headers of a stream arrive before any event', async () => {
  const host = await serveAgents({ agents: { chat: langgraph(chat()) } })
  const stream = await host.thread().stream()
  expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  expect(stream.response.headers.get('cache-control')).toMatch(/no-cache.*no-transform/)
  expect(stream.response.headers.get('x-accel-buffering')).toBe('no')
  expect(stream.events).toEqual([])
})

test('rule 4: event ids are unique and stable and seqs rise, across runs and servers as well', async () => {
  const store = memoryStore()
  const checkpointer = memoryCheckpointer()
  const agents = { chat: langgraph(chat()) }
  const first = await serveAgents({ agents, store, checkpointer })
  await first.thread('t').start(question)
  const before = await first.thread('t').transcript()
  await first.server.close()

  const second = await serveAgents({ agents, store, checkpointer })
  await second.thread('t').start(question)
  const after = await second.thread('t').transcript(2)
  const again = await second.thread('t').transcript(2)
  expect(after.slice(0, before.length)).toEqual(before)
  expect(again).toEqual(after)
  expect(new Set(ids(after)).size).toBe(after.length)
  expect(seqs(after)).toEqual([...seqs(after)].sort((a, b) => a - b))
  expect(new Set(seqs(after)).size).toBe(after.length)
  for (const id of ids(after)) expect(id).toMatch(/^\d+-\d+$/)
})

test('rule 5: a new stream gets the past without the root lifecycle events of earlier runs and without answered interrupts', async () => {
  const host = await serveAgents({ agents: { ask: langgraph(approval()) } })
  const thread = host.thread()
  await thread.start()
  const [asked] = dataOf(await thread.transcript(), 'input.requested')
  await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, response: 'yes' })
  const all = await thread.transcript(2)

  const replay = await (await thread.stream()).until((events) => events.some(isTerminal))
  const over = all.filter(
    (event) => (isRoot(event) && event.seq < replay.find(isRoot)!.seq) || event.method === 'input.requested',
  )
  expect(over.map(({ method }) => method)).toEqual(['lifecycle', 'input.requested', 'lifecycle'])
  expect(replay).toEqual(all.filter((event) => !over.includes(event)))
})

test('rule 5: a stream with a cursor gets the events that a new stream skips', async () => {
  const host = await serveAgents({ agents: { ask: langgraph(approval()) } })
  const thread = host.thread()
  await thread.start()
  const [first] = await thread.transcript()
  const [asked] = dataOf(await thread.transcript(), 'input.requested')
  await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, response: 'yes' })
  const all = await thread.transcript(2)
  const late = await thread.stream({ since: first!.seq })
  expect(await late.until((events) => events.filter(isTerminal).length === 2)).toEqual(all.slice(1))
})

test('rule 6: each run is running and then completed, failed or interrupted, and failed says why', async () => {
  const failing = threeSteps((name) => {
    if (name === 'two') throw new Error('kaput')
  })
  const host = await serveAgents({
    agents: { good: langgraph(threeSteps()), bad: langgraph(failing), ask: langgraph(approval()) },
  })
  const endings: Record<string, unknown> = {}
  for (const assistant_id of ['good', 'bad', 'ask']) {
    const thread = host.thread()
    const run_id = await thread.start({}, { assistant_id })
    const roots = (await thread.transcript()).filter(isRoot).map(({ params }) => params.data)
    expect(roots[0]).toEqual({ event: 'running', graph_name: assistant_id, run_id })
    expect(roots).toHaveLength(2)
    endings[assistant_id] = roots[1]
  }
  expect(endings).toMatchObject({
    good: { event: 'completed' },
    bad: { event: 'failed', error: 'kaput' },
    ask: { event: 'interrupted' },
  })
})

test('rule 7: a run that asks a question ends interrupted, after input.requested with payload and value', async () => {
  const host = await serveAgents({ agents: { ask: langgraph(approval()) } })
  const thread = host.thread()
  await thread.start()
  const events = await thread.transcript()
  expect(rootStates(events)).toEqual(['running', 'interrupted'])
  expect(dataOf(events, 'input.requested')).toEqual([
    { interrupt_id: expect.any(String), payload: { question: 'go?' }, value: { question: 'go?' } },
  ])
  const order = events.filter(({ method }) => ['input.requested', 'tasks', 'lifecycle'].includes(method))
  expect(order.map(({ method }) => method)).toEqual([
    'lifecycle',
    'tasks',
    'input.requested',
    'tasks',
    'lifecycle',
  ])
  expect(JSON.stringify(events)).not.toContain('__interrupt__')
})

test('rule 8: applied_through_seq is the last seq before the first event of the run', async () => {
  const host = await serveAgents({ agents: { ask: langgraph(approval()) } })
  const thread = host.thread()
  const started = await thread.command('run.start', { input: {} })
  const [first, ...rest] = await thread.transcript()
  expect(first!.seq).toBe(started.meta.applied_through_seq + 1)
  const [asked] = dataOf(rest, 'input.requested')
  const answered = await thread.command('input.respond', {
    interrupt_id: asked.interrupt_id,
    response: 'yes',
  })
  const second = (await thread.transcript(2)).filter(isRoot)[2]!
  expect(second.seq).toBe(answered.meta.applied_through_seq + 1)
  expect(answered.meta.applied_through_seq).toBe(rest.at(-1)!.seq)
})

test('rule 9: a command that the protocol refuses is answered with HTTP 200', async () => {
  const host = await serveAgents({ agents: { chat: langgraph(chat()) } })
  const thread = host.thread()
  expect(await thread.refused('run.start', { assistant_id: 'nobody' })).toBe('invalid_argument')
  expect(await thread.refused('input.respond', { interrupt_id: 'x' })).toBe('no_such_run')
  expect(await thread.refused('no.such.command')).toBe('unknown_command')
})

test('rule 10: the state of a missing thread is 404 and its stream stays idle until a run creates the thread', async () => {
  const host = await serveAgents({ agents: { chat: langgraph(chat()) } })
  const thread = host.thread()
  const { status, body } = await thread.get('/state')
  expect({ status, body }).toEqual({ status: 404, body: { error: 'not_found', message: expect.any(String) } })
  const early = await thread.stream()
  const late = thread.stream({ channels: ['lifecycle'] })
  await thread.start(question)
  await early.until((events) => events.some(isTerminal))
  expect(early.events).toEqual(await thread.transcript())
  expect(rootStates(await (await late).until((events) => events.some(isTerminal)))).toEqual([
    'running',
    'completed',
  ])
})

test('rule 11: cancel answers at once, with 2xx for a run and with 404 where there is none', async () => {
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent } })
  const thread = host.thread()
  expect((await thread.post('/runs/none/cancel?wait=0&action=interrupt')).status).toBe(404)
  const run = await thread.start()
  expect((await thread.post('/runs/none/cancel?wait=0&action=interrupt')).status).toBe(404)
  const { status, body } = await thread.request('POST', `/runs/${run}/cancel?wait=0&action=interrupt`)
  expect({ status, body }).toEqual({ status: 202, body: undefined })
  expect(rootStates(await thread.transcript())).toEqual(['running', 'interrupted'])
  expect((await thread.request('POST', `/runs/${run}/cancel`)).status).toBe(202)
})

test('rule 12: the state of an idle thread has no next nodes, and the state of a waiting one lists its interrupts', async () => {
  const host = await serveAgents({
    agents: { chat: langgraph(chat()), two: langgraph(twoApprovals()), nested: langgraph(nestedApproval()) },
  })
  const idle = host.thread()
  await idle.start(question, { assistant_id: 'chat' })
  expect(await idle.idle()).toMatchObject({ next: [], tasks: [] })
  for (const [assistant_id, values] of [
    ['two', ['left?', 'right?']],
    ['nested', ['inner?']],
  ] as const) {
    const waiting = host.thread()
    await waiting.start({}, { assistant_id })
    const { next, tasks } = await waiting.idle()
    expect(next.length).toBeGreaterThan(0)
    const asked = dataOf(await waiting.transcript(), 'input.requested')
    const listed = tasks.flatMap((task: { interrupts: { id: string; value: unknown }[] }) => task.interrupts)
    expect(listed.map(({ value }: { value: unknown }) => value)).toEqual(values)
    expect(listed.map(({ id }: { id: string }) => id).sort()).toEqual(
      asked.map(({ interrupt_id }) => interrupt_id).sort(),
    )
  }
})

test('rule 13: each root values event directly follows its checkpoints event', async () => {
  const host = await serveAgents({
    agents: {
      tools: langgraph(calculator()),
      deep: langgraph(researchers()),
      steps: langgraph(threeSteps()),
    },
  })
  for (const assistant_id of ['tools', 'deep', 'steps']) {
    const thread = host.thread()
    await thread.start(assistant_id === 'steps' ? {} : question, { assistant_id })
    const events = await thread.transcript()
    const before = events.flatMap((event, at) =>
      event.method === 'values' && event.params.namespace.length === 0 ? [events[at - 1]!] : [],
    )
    expect(before.length).toBeGreaterThan(2)
    for (const { method, params } of before) {
      expect(method).toBe('checkpoints')
      expect(params.namespace).toEqual([])
    }
    const steps = before.map(({ params }) => params.data.step)
    expect(steps).toEqual([...steps].sort((a, b) => a - b))
  }
})

test('rule 14: the namespace of a subagent is its task, and its first values begin with the description', async () => {
  const host = await serveAgents({ agents: { deep: langgraph(researchers()) } })
  const thread = host.thread()
  await thread.start(question)
  const events = await thread.transcript()
  const started = events.find(({ params }) => params.data.tool_name === 'task')!
  expect(started.params.namespace).toEqual([expect.stringMatching(/^tools:[0-9a-f-]{36}$/)])
  expect(started.params.data.tool_call_id).toBe('call_task')
  const own = events.filter(
    ({ method, params }) =>
      method === 'values' && params.namespace.join() === started.params.namespace.join(),
  )
  expect(own[0]!.params.data.messages[0]).toMatchObject({ type: 'human', content: 'Find x' })
  expect(events.indexOf(own[0]!)).toBeGreaterThan(events.indexOf(started))
})

test('rule 15: a client may send since with every filter, and subscriptions by command need a WebSocket', async () => {
  const host = await serveAgents({ agents: { chat: langgraph(chat()) } })
  const thread = host.thread()
  await thread.start(question)
  const all = await thread.transcript()
  let seen: WireEvent[] = []
  for (const channels of [['lifecycle'], ['lifecycle', 'input'], ['lifecycle', 'input', 'values']]) {
    const since = seen.at(-1)?.seq ?? 0
    const stream = await thread.stream({ channels, since })
    await thread.start(question)
    const wanted = (event: WireEvent) => channels.includes(event.method) && event.seq > since
    seen = await stream.until((events) =>
      events.some((event) => isTerminal(event) && event.seq > all.at(-1)!.seq),
    )
    expect(seen.every(wanted)).toBe(true)
    all.push(...seen.filter(({ seq }) => seq > all.at(-1)!.seq))
  }
  for (const method of ['subscription.subscribe', 'subscription.unsubscribe', 'subscription.reconnect'])
    expect(await thread.refused(method, { channels: ['values'] })).toBe('not_supported')
})

test('rule 16: cancel stops the nodes of a graph and ends in interrupted without an error', async () => {
  const entered: string[] = []
  const { opened: reached, open: reach } = gate()
  const graph = threeSteps((name, { signal }) => {
    entered.push(name)
    if (name !== 'two') return
    reach()
    return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
  })
  const host = await serveAgents({ agents: { steps: langgraph(graph) } })
  const thread = host.thread()
  const run = await thread.start()
  await reached
  expect((await thread.post(`/runs/${run}/cancel?wait=1`)).status).toBe(204)
  const last = (await thread.transcript()).at(-1)!
  expect(last.params.data).toMatchObject({ event: 'interrupted' })
  expect(last.params.data).not.toHaveProperty('error')
  expect(entered).toEqual(['one', 'two'])
  expect((await thread.get('/state')).body).toMatchObject({ values: { notes: ['one'] }, next: ['two'] })
  expect((await thread.get('')).body.status).toBe('idle')
})

test('rule 17: once run.start has answered, the state exists with an object in values', async () => {
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent } })
  const thread = host.thread()
  await thread.start()
  const { status, body } = await thread.get('/state')
  expect(status).toBe(200)
  expect(body.values).toEqual({})
  expect(body.next).not.toEqual([])
  actor.finish()
  expect(await thread.idle()).toMatchObject({ values: {}, next: [], tasks: [] })
})

test('rule 18: a child that waits at an interrupt is never completed', async () => {
  const host = await serveAgents({
    agents: { nested: langgraph(nestedApproval()), deep: langgraph(researchers({ asks: true })) },
  })
  for (const assistant_id of ['nested', 'deep']) {
    const thread = host.thread()
    await thread.start(assistant_id === 'deep' ? question : {}, { assistant_id })
    const events = await thread.transcript()
    const [asked] = events.filter(({ method }) => method === 'input.requested')
    expect(asked!.params.namespace.length).toBeGreaterThan(0)
    const above = asked!.params.namespace.map((_, at, path) => path.slice(0, at + 1).join('|'))
    const endings = events.filter(
      ({ method, params }) =>
        method === 'lifecycle' &&
        above.includes(params.namespace.join('|')) &&
        params.data.event !== 'started',
    )
    expect(endings.map(({ params }) => params.data.event)).not.toContain('completed')
    expect(rootStates(events)).toEqual(['running', 'interrupted'])
  }
})
