import { interrupt, START, StateGraph } from '@langchain/langgraph'
import { expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type AgentEngine, headOf, type ServerEvent, subscribe } from '../../src/engine/index.ts'
import type { AgentEvent } from '../../src/messages/thread-events/index.ts'
import { Notes } from '../fixtures/graphs.ts'
import { engineOf, readUntil, start, transcript } from '../kit/engine.ts'
import { dataOf, rootStates } from '../kit/events.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { killable, sharedMemory } from '../kit/shared.ts'
import { eventually, gate } from '../kit/wait.ts'

const asks = (id: string): AgentEvent => ({
  method: 'input.requested',
  namespace: [],
  data: { interrupt_id: id, payload: `${id}?`, value: `${id}?` },
})

/** An engine whose agent the test drives, with a run in progress on the thread `t`. */
async function running(overrides: Parameters<typeof puppet>[0] = {}) {
  const actor = puppet(overrides)
  const told: ServerEvent[] = []
  const engine = engineOf({ a: actor.agent }, { observe: (event) => told.push(event), cancelGraceMs: 5_000 })
  onTestFinished(() => engine.close())
  const { runId } = await start(engine, 't')
  return {
    ...actor,
    engine,
    runId,
    /** Lets the run ask, and settles when clients can see it. */
    async ask(...ids: string[]) {
      actor.emit(...ids.map(asks))
      await eventually(async () => (await openOf(engine)).length === ids.length)
    },
    starts: () => actor.tasks.map((task) => task.start),
    reasonOf: (run: { readonly runId: string }) =>
      told.flatMap((event) =>
        event.type === 'run.ended' && event.runId === run.runId ? [event.reason] : [],
      ),
  }
}

const openOf = async (engine: AgentEngine): Promise<readonly string[]> =>
  (await engine.findThread({ threadId: 't' }))!.interrupts.map(({ id }) => id)

const answer = (engine: AgentEngine, answers: Record<string, unknown>) =>
  engine.respond({ threadId: 't', answers })

/** What a client without a cursor is sent of the questions. */
async function listed(engine: AgentEngine): Promise<readonly string[]> {
  const head = await headOf(engine, { threadId: 't' })
  const subscription = subscribe(engine, { threadId: 't', filter: { channels: ['input', 'custom'] } })
  // The log has nothing after this one, which everybody is sent.
  const events = await readUntil(subscription, (seen) => seen.some(({ seq }) => seq === head))
  subscription.cancel()
  return dataOf(events, 'input.requested').map((data) => data.interrupt_id)
}

test('an announced question can be answered once, by a run that waits for the end of the run that asks', async () => {
  const { engine, ask, finish, starts } = await running()
  await ask('a')
  const answered = await answer(engine, { a: 'yes' })
  await expect(answer(engine, { a: 'no' })).rejects.toMatchObject({ code: 'no_such_interrupt' })
  expect(starts()).toHaveLength(1)
  finish()
  finish()
  expect(await engine.wait({ threadId: 't', ...answered })).toMatchObject({ status: 'success' })
  expect(rootStates(await transcript(engine, 't', 2))).toEqual([
    'running',
    'interrupted',
    'running',
    'completed',
  ])
  expect(starts()[1]).toMatchObject({ kind: 'resume', answers: { a: 'yes' } })
  await expect(answer(engine, { a: 'no' })).rejects.toMatchObject({ code: 'no_such_interrupt' })
})

test('questions that are answered one by one before their run has ended are answered in this order', async () => {
  const { engine, ask, emit, finish, starts } = await running()
  await ask('a', 'b')
  await answer(engine, { b: 1 })
  const last = await answer(engine, { a: 2 })
  finish()
  await eventually(() => starts().length === 2)
  emit(asks('a'))
  finish()
  finish()
  await engine.wait({ threadId: 't', ...last })
  expect(starts().slice(1)).toMatchObject([{ answers: { b: 1 } }, { answers: { a: 2 } }])
  expect(
    dataOf(await transcript(engine, 't', 3), 'input.requested').map((data) => data.interrupt_id),
  ).toEqual(['a', 'b'])
})

test('an answer goes before inputs that wait, because these drop the question', async () => {
  const { engine, ask, finish, starts } = await running()
  const waiting = await start(engine, 't', 'new')
  await ask('a')
  await answer(engine, { a: 'yes' })
  for (const _ of [1, 2, 3]) finish()
  await engine.wait({ threadId: 't', ...waiting })
  expect(starts().slice(1)).toMatchObject([{ answers: { a: 'yes' } }, { kind: 'input', value: 'new' }])
})

test('an input answers the one question that was announced, and is refused where there are several', async () => {
  const { engine, ask, finish, starts } = await running()
  await ask('a')
  const answered = await start(engine, 't', 'yes')
  // The question has its answer, so that this is a new input.
  const next = await start(engine, 't', 'more')
  for (const _ of [1, 2, 3]) finish()
  await engine.wait({ threadId: 't', ...answered })
  await engine.wait({ threadId: 't', ...next })
  expect(starts().slice(1)).toMatchObject([
    { kind: 'resume', answers: { a: 'yes' } },
    { kind: 'input', value: 'more' },
  ])
  const several = await running()
  await several.ask('a', 'b')
  await expect(start(several.engine, 't', 'yes')).rejects.toMatchObject({ code: 'invalid_argument' })
})

test('an input that stops the run that asks is no answer', async () => {
  for (const multitaskStrategy of ['interrupt', 'rollback'] as const) {
    const { engine, ask, finish, starts } = await running()
    await ask('a')
    const next = await start(engine, 't', 'new', { multitaskStrategy })
    finish()
    await engine.wait({ threadId: 't', ...next })
    expect(starts()[1]).toEqual({ kind: 'input', value: 'new' })
  }
  const { engine, ask } = await running()
  await ask('a')
  await expect(start(engine, 't', 'new', { multitaskStrategy: 'reject' })).rejects.toMatchObject({
    code: 'thread_busy',
  })
})

test('a new client is sent a question until somebody has answered it', async () => {
  const { engine, ask, emit } = await running()
  await ask('a', 'b')
  emit(custom('last'))
  await eventually(async () => (await headOf(engine, { threadId: 't' })) === 4)
  expect(await listed(engine)).toEqual(['a', 'b'])
  await answer(engine, { a: 'yes' })
  expect(await listed(engine)).toEqual(['b'])
})

test('a cancel drops the answers that wait behind the run, and their questions are announced again', async () => {
  const { engine, runId, ask, starts, reasonOf } = await running()
  await ask('a', 'b')
  const answered = await answer(engine, { a: 'yes' })
  await engine.cancel({ threadId: 't', runId })
  await engine.wait({ threadId: 't', runId })
  expect(await engine.wait({ threadId: 't', ...answered })).toMatchObject({ status: 'interrupted' })
  expect(reasonOf(answered)).toEqual(['cancelled'])
  expect(starts()).toHaveLength(1)
  const events = await transcript(engine, 't')
  expect(rootStates(events)).toEqual(['running', 'interrupted'])
  expect(dataOf(events, 'input.requested').map((data) => data.interrupt_id)).toEqual(['a', 'b', 'a'])
  expect((await engine.findThread({ threadId: 't' }))!.status).toBe('interrupted')
  await answer(engine, { a: 'at last', b: 'too' })
  expect(starts()[1]).toMatchObject({ answers: { a: 'at last', b: 'too' } })
})

test('when an answer is cancelled while it waits, its question is announced again', async () => {
  const { engine, ask, finish, runId } = await running()
  await ask('a')
  const answered = await answer(engine, { a: 'yes' })
  await engine.cancel({ threadId: 't', ...answered })
  finish()
  await engine.wait({ threadId: 't', runId })
  const events = await transcript(engine, 't')
  expect(dataOf(events, 'input.requested').map((data) => data.interrupt_id)).toEqual(['a', 'a'])
  await answer(engine, { a: 'again' })
})

test('an answer to a question that is undone is withdrawn, and never taken for a new input', async () => {
  const { opened, open } = gate()
  let attempts = 0
  const { engine, runId, reasonOf } = await running({
    // It ignores that it is stopped, until the test lets it end.
    async *stream() {
      attempts++
      yield asks('a')
      await opened
    },
  })
  await eventually(async () => (await openOf(engine)).length === 1)
  await engine.cancel({ threadId: 't', runId, action: 'rollback' })
  const answered = await answer(engine, { a: 'yes' })
  open()
  expect(await engine.wait({ threadId: 't', ...answered })).toMatchObject({ status: 'interrupted' })
  expect(reasonOf(answered)).toEqual(['withdrawn'])
  expect(attempts).toBe(1)
  expect(await engine.findThread({ threadId: 't' })).toMatchObject({
    status: 'idle',
    interrupts: [],
    queue: [],
  })
})

test('an interrupt does not weaken a rollback, whether it is a cancel or a strategy', async () => {
  for (const weaken of [
    (engine: AgentEngine, runId: string) => engine.cancel({ threadId: 't', runId, action: 'interrupt' }),
    (engine: AgentEngine) => start(engine, 't', 'next', { multitaskStrategy: 'interrupt' }),
  ]) {
    const { opened, open } = gate()
    const { engine, runId, reasonOf } = await running({
      async *stream() {
        yield custom('begun')
        await opened
      },
    })
    await eventually(async () => (await headOf(engine, { threadId: 't' })) === 2)
    await engine.cancel({ threadId: 't', runId, action: 'rollback' })
    await weaken(engine, runId)
    open()
    await engine.wait({ threadId: 't', runId })
    expect(reasonOf({ runId })).toEqual(['rolled_back'])
  }
})

test('after a failed run an open question is answered by its id only', async () => {
  const { engine, ask, fail, finish, starts, runId } = await running()
  await ask('a')
  fail(new Error('kaput'))
  await engine.wait({ threadId: 't', runId })
  expect(await engine.findThread({ threadId: 't' })).toMatchObject({ status: 'interrupted', error: 'kaput' })
  finish()
  const answered = await answer(engine, { a: 'yes' })
  expect(await engine.wait({ threadId: 't', ...answered })).toMatchObject({ status: 'success' })
  expect(starts()[1]).toMatchObject({ answers: { a: 'yes' } })

  const other = await running()
  await other.ask('a')
  other.fail(new Error('kaput'))
  await other.engine.wait({ threadId: 't', runId: other.runId })
  const next = await start(other.engine, 't', 'Hello?')
  other.finish()
  await other.engine.wait({ threadId: 't', ...next })
  expect(other.starts()[1]).toEqual({ kind: 'input', value: 'Hello?' })
})

test('an answer to a question of a run that then fails is given to the agent, if the question is still open', async () => {
  const { engine, ask, fail, finish, starts } = await running()
  await ask('a')
  const answered = await answer(engine, { a: 'yes' })
  fail(new Error('kaput'))
  finish()
  expect(await engine.wait({ threadId: 't', ...answered })).toMatchObject({ status: 'success' })
  expect(starts()[1]).toMatchObject({ answers: { a: 'yes' } })
})

test('a question is entered although the thread is changed by others at the same time', async () => {
  const { engine, ask, finish, runId } = await running()
  const ids = Array.from({ length: 20 }, (_, i) => `q${i}`)
  const patches = ids.map((id) => engine.patchThread({ threadId: 't', metadata: { [id]: true } }))
  await Promise.all([ask(...ids), ...patches])
  finish()
  await engine.wait({ threadId: 't', runId })
  const thread = await engine.findThread({ threadId: 't' })
  expect(thread!.interrupts.map(({ id }) => id)).toEqual(ids)
  expect(Object.keys(thread!.metadata)).toHaveLength(20)
  const events = await transcript(engine, 't')
  expect(dataOf(events, 'input.requested')).toHaveLength(20)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
})

const LEASE_MS = 200

/** Instances over one storage. A killed one no longer reaches it. */
function cluster() {
  const shared = sharedMemory()
  return (graph: Parameters<typeof langgraph>[0]) => {
    const { place, kill } = killable(shared())
    const engine = engineOf(
      { a: langgraph(graph) },
      { ...place, leaseTtlMs: LEASE_MS, cancelGraceMs: 5, onError: () => {} },
    )
    onTestFinished(() => engine.close())
    return { engine, kill }
  }
}

const forever = () => new Promise<never>(() => {})

/** A graph with a node that asks and a node beside it. */
const asksBesides = (slow: () => Promise<unknown>) =>
  new StateGraph(Notes)
    .addNode('ask', () => ({ notes: [`answer: ${String(interrupt('go?'))}`] }))
    .addNode('slow', async () => {
      await slow()
      return { notes: ['slow'] }
    })
    .addEdge(START, 'ask')
    .addEdge(START, 'slow')
    .compile()

test('an answer to the question of a lost process is given on the instance that takes its run over', async () => {
  const join = cluster()
  const a = join(asksBesides(forever))
  const b = join(asksBesides(async () => {}))
  const { runId } = await start(a.engine, 't', {})
  await eventually(async () => (await openOf(b.engine)).length === 1)
  const answered = await answer(b.engine, { [(await openOf(b.engine))[0]!]: 'yes' })
  // A run that is lost before its checkpoint has the question asks again, under another id.
  await eventually(async () => {
    const state = await b.engine.readState((await b.engine.findThread({ threadId: 't' }))!)
    return state?.tasks.some(({ interrupts }) => interrupts.length > 0) ?? false
  })
  a.kill()
  expect(await b.engine.wait({ threadId: 't', ...answered })).toMatchObject({ status: 'success' })
  const events = await transcript(b.engine, 't', 2)
  expect(rootStates(events)).toEqual(['running', 'interrupted', 'running', 'completed'])
  expect(dataOf(events, 'input.requested')).toHaveLength(1)
  expect(events.find((event) => event.method === 'lifecycle')!.params.data.run_id).toBe(runId)
  const thread = await b.engine.findThread({ threadId: 't' })
  expect((await b.engine.readState(thread!))!.values.notes).toContain('answer: yes')
})

/** A graph whose node asks, and then does `next` with the answer. */
const asksThen = (next: (answer: unknown) => unknown) =>
  new StateGraph(Notes)
    .addNode('ask', async () => ({ notes: [`answer: ${String(await next(interrupt('go?')))}`] }))
    .addEdge(START, 'ask')
    .compile()

/** A thread whose run with the answer `yes` was given up after three processes, and an instance that is left. */
async function givenUp() {
  const join = cluster()
  const first = join(asksThen(() => {}))
  const asked = await start(first.engine, 't')
  await first.engine.wait({ threadId: 't', ...asked })
  const [id] = await openOf(first.engine)
  await first.engine.close()
  for (const attempt of [1, 2, 3]) {
    const { opened: reached, open: reach } = gate()
    const victim = join(
      asksThen(() => {
        reach()
        return forever()
      }),
    )
    if (attempt === 1) await answer(victim.engine, { [id!]: 'yes' })
    await reached
    victim.kill()
  }
  const { engine } = join(asksThen((answer) => answer))
  const events = await transcript(engine, 't', 2)
  expect(rootStates(events)).toEqual(['running', 'interrupted', 'running', 'failed'])
  const requests = events.filter(({ method }) => method === 'input.requested')
  const state = async () => (await engine.readState((await engine.findThread({ threadId: 't' }))!))!
  return { engine, id: id!, requests, state }
}

test('when a run with an answer is given up, its question is announced again, and the next answer counts', async () => {
  const { engine, id, requests, state } = await givenUp()
  expect(requests.map(({ params }) => params.data)).toEqual([
    { interrupt_id: id, payload: 'go?', value: 'go?' },
    { interrupt_id: id, payload: 'go?', value: 'go?' },
  ])
  expect(await engine.findThread({ threadId: 't' })).toMatchObject({
    status: 'interrupted',
    error: expect.stringContaining('Send your message again'),
    interrupts: [{ id }],
  })
  const answered = await answer(engine, { [id]: 'no' })
  expect(await engine.wait({ threadId: 't', ...answered })).toMatchObject({ status: 'success' })
  expect((await state()).values.notes).toEqual(['answer: no'])
})

test('a message after a run that was given up is no answer', async () => {
  const { engine, id, state } = await givenUp()
  const next = await start(engine, 't', { notes: ['Hello?'] })
  await engine.wait({ threadId: 't', ...next })
  expect((await state()).values.notes).toEqual(['Hello?'])
  expect(await openOf(engine)).not.toContain(id)
  await expect(answer(engine, { [id]: 'yes' })).rejects.toMatchObject({ code: 'no_such_interrupt' })
})

test('when a run is taken over after it has asked again, its answer is not given to the second question', async () => {
  const join = cluster()
  // The node beside the questions asks, too, and with its answer it keeps the run in progress.
  const graph = (slow: () => Promise<unknown>) =>
    new StateGraph(Notes)
      .addNode('ask', () => ({ notes: [`${interrupt('one?')}, ${interrupt('two?')}`] }))
      .addNode('slow', async () => ({ notes: [`${interrupt('slow?')} ${await slow()}`] }))
      .addEdge(START, 'ask')
      .addEdge(START, 'slow')
      .compile()
  const first = join(graph(async () => 'first'))
  const asked = await start(first.engine, 't')
  const { interrupts } = await first.engine.wait({ threadId: 't', ...asked })
  await first.engine.close()
  const victim = join(graph(forever))
  const idOf = (value: string) => interrupts.find((open) => open.value === value)!.id
  const answered = await answer(victim.engine, { [idOf('one?')]: 'yes', [idOf('slow?')]: 'go' })
  const pending = async ({ engine }: typeof victim) => {
    const state = await engine.readState((await engine.findThread({ threadId: 't' }))!)
    return state!.tasks.flatMap((task) => task.interrupts.map(({ value }) => value))
  }
  await eventually(async () => (await pending(victim)).includes('two?'))
  victim.kill()
  const last = join(graph(async () => 'on'))
  const { status, interrupts: open } = await last.engine.wait({ threadId: 't', ...answered })
  expect([status, open.map(({ value }) => value)]).toEqual(['interrupted', ['two?']])
  const again = await answer(last.engine, { [open[0]!.id]: 'no' })
  expect(await last.engine.wait({ threadId: 't', ...again })).toMatchObject({ status: 'success' })
  const state = await last.engine.readState((await last.engine.findThread({ threadId: 't' }))!)
  expect(state!.values.notes).toEqual(expect.arrayContaining(['yes, no']))
})

/** A graph whose subgraph asks, and takes a step with the answer before it does `next`. */
function nestedAsksThen(next: () => unknown) {
  const inner = new StateGraph(Notes)
    .addNode('ask', () => ({ notes: [`answer: ${String(interrupt('go?'))}`] }))
    .addNode('next', async () => ({ notes: [`next: ${String(await next())}`] }))
    .addEdge(START, 'ask')
    .addEdge('ask', 'next')
    .compile()
  return new StateGraph(Notes).addNode('outer', inner).addEdge(START, 'outer').compile()
}

/** A thread whose subgraph has asked in the process before. */
async function nestedAsked() {
  const join = cluster()
  const first = join(nestedAsksThen(() => {}))
  const asked = await start(first.engine, 't')
  await first.engine.wait({ threadId: 't', ...asked })
  const [open] = (await first.engine.findThread({ threadId: 't' }))!.interrupts
  const checkpointNs = open!.namespace.join('|')
  await first.engine.close()
  /** An instance whose subgraph hangs after the answer. `reached` settles when it does, and its checkpoint is written. */
  const hanging = () => {
    const { opened, open: reach } = gate()
    const { engine, kill } = join(
      nestedAsksThen(() => {
        reach()
        return forever()
      }),
    )
    const reached = async () => {
      await opened
      const thread = (await engine.findThread({ threadId: 't' }))!
      await eventually(async () => (await engine.readState(thread, { checkpointNs }))?.next[0] === 'next')
    }
    return { engine, kill, reached }
  }
  return { join, id: open!.id, hanging }
}

test('a question whose answer a subgraph has taken is not open after a cancel', async () => {
  const { id, hanging } = await nestedAsked()
  const { engine, reached } = hanging()
  const { runId } = await answer(engine, { [id]: 'yes' })
  await reached()
  await engine.cancel({ threadId: 't', runId })
  await engine.wait({ threadId: 't', runId })
  expect(await openOf(engine)).toEqual([])
  const events = await transcript(engine, 't', 2)
  expect(dataOf(events, 'input.requested').map((data) => data.interrupt_id)).toEqual([id])
  await expect(answer(engine, { [id]: 'no' })).rejects.toMatchObject({ code: 'no_such_interrupt' })
})

test('a question whose answer a subgraph has taken is not announced again when its run is given up', async () => {
  const { join, id, hanging } = await nestedAsked()
  for (const attempt of [1, 2, 3]) {
    const victim = hanging()
    if (attempt === 1) await answer(victim.engine, { [id]: 'yes' })
    await victim.reached()
    victim.kill()
  }
  const { engine } = join(nestedAsksThen(() => {}))
  const events = await transcript(engine, 't', 2)
  expect(rootStates(events)).toEqual(['running', 'interrupted', 'running', 'failed'])
  expect(dataOf(events, 'input.requested').map((data) => data.interrupt_id)).toEqual([id])
  expect(await engine.findThread({ threadId: 't' })).toMatchObject({ status: 'error', interrupts: [] })
})

test('a subgraph that has taken an answer goes on in the process that takes its run over', async () => {
  const { join, id, hanging } = await nestedAsked()
  const victim = hanging()
  const answered = await answer(victim.engine, { [id]: 'yes' })
  await victim.reached()
  victim.kill()
  const { engine } = join(nestedAsksThen(() => 'done'))
  expect(await engine.wait({ threadId: 't', ...answered })).toMatchObject({ status: 'success' })
  const state = await engine.readState((await engine.findThread({ threadId: 't' }))!)
  expect(state!.values.notes).toEqual(['answer: yes', 'next: done'])
})

test('a question of a subgraph is open again when its run is cancelled before the subgraph took the answer', async () => {
  const { opened: reached, open: reach } = gate()
  const inner = new StateGraph(Notes)
    .addNode('ask', async () => {
      const answer = interrupt('go?')
      reach()
      return { notes: [String(answer), String(await forever())] }
    })
    .addEdge(START, 'ask')
    .compile()
  const { engine } = cluster()(
    new StateGraph(Notes).addNode('outer', inner).addEdge(START, 'outer').compile(),
  )
  await engine.wait({ threadId: 't', ...(await start(engine, 't')) })
  const [id] = await openOf(engine)
  const { runId } = await answer(engine, { [id!]: 'yes' })
  await reached
  await engine.cancel({ threadId: 't', runId })
  await engine.wait({ threadId: 't', runId })
  expect(await openOf(engine)).toEqual([id])
})

test('a question of a task that has failed before stands in the state', async () => {
  let calls = 0
  const graph = new StateGraph(Notes)
    .addNode('ask', () => {
      if (calls++ === 0) throw new Error('kaput')
      return { notes: [String(interrupt('go?'))] }
    })
    .addEdge(START, 'ask')
    .compile()
  const { engine } = cluster()(graph)
  await engine.wait({ threadId: 't', ...(await start(engine, 't')) })
  await engine.wait({ threadId: 't', ...(await start(engine, 't', null)) })
  const thread = (await engine.findThread({ threadId: 't' }))!
  expect(thread.interrupts).toMatchObject([{ value: 'go?' }])
  const state = await engine.readState(thread)
  expect(state!.tasks.flatMap(({ interrupts }) => interrupts)).toMatchObject([{ value: 'go?' }])
})
