import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { MultitaskStrategy } from '../../src/index.ts'
import {
  type AgentEngine,
  type AgentEngineOptions,
  createAgentServer,
  defineAgent,
  type ServerEvent,
} from '../../src/index.ts'
import { openaiChat } from '../../src/models/formats/index.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { approval } from '../fixtures/graphs.ts'
import { engineOf, start } from '../kit/engine.ts'
import { puppet } from '../kit/puppet.ts'
import { killable, sharedMemory } from '../kit/shared.ts'
import { eventually, gate, turns } from '../kit/wait.ts'

/** An engine whose events are kept. */
function observed(agents: Parameters<typeof engineOf>[0], options: Partial<AgentEngineOptions> = {}) {
  const events: ServerEvent[] = []
  const engine = engineOf(agents, { ...options, observe: (event) => events.push(event) })
  onTestFinished(() => engine.close())
  return { engine, events, told: () => events.map(({ type }) => type) }
}

const ends = (event: ServerEvent): boolean => event.type === 'run.ended' || event.type === 'run.interrupted'

describe('a run is told of', () => {
  test('from its start to its end, with times and whose it is', async () => {
    const actor = puppet()
    const { engine, events } = observed({ a: actor.agent })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const { runId } = await start(engine, 't', {}, { principal: { id: 'ann', tenant: 'acme' }, traceparent })
    actor.finish()
    await engine.wait({ threadId: 't', runId, principal: { id: 'ann', tenant: 'acme' } })
    const about = { threadId: 't', runId, assistantId: 'a', owner: '[tenant]acme', traceparent }
    expect(events).toEqual([
      { ...about, type: 'run.started', at: expect.any(Number), waitedMs: expect.any(Number) },
      {
        ...about,
        type: 'run.ended',
        at: expect.any(Number),
        status: 'success',
        reason: 'completed',
        durationMs: expect.any(Number),
        usage: null,
      },
    ])
  })

  test('with the error that the agent threw, which no client sees', async () => {
    const actor = puppet()
    const { engine, events } = observed({ a: actor.agent })
    const { runId } = await start(engine, 't')
    const error = new Error('why')
    actor.fail(error)
    await engine.wait({ threadId: 't', runId })
    expect(events.at(-1)).toMatchObject({ type: 'run.ended', status: 'error', reason: 'failed' })
    expect((events.at(-1) as { error: unknown }).error).toBe(error)
  })

  test('when it waits for answers, and when the run with the answers ends', async () => {
    const { engine, events } = observed({ ask: langgraph(approval()) })
    const asked = await engine.start({ threadId: 't', input: { notes: ['a'] } })
    const { interrupts } = await engine.wait({ threadId: 't', ...asked })
    const answered = await engine.respond({ threadId: 't', answers: { [interrupts[0]!.id]: 'yes' } })
    await engine.wait({ threadId: 't', ...answered })
    expect(events.filter(ends)).toMatchObject([
      { type: 'run.interrupted', status: 'interrupted', interruptIds: [interrupts[0]!.id] },
      { type: 'run.ended', reason: 'completed' },
    ])
  })

  test('with its calls of models and the tokens they took', async () => {
    const chunk = (delta: object, rest: object = {}) => ({
      id: 'c',
      object: 'chat.completion.chunk',
      model: 'gpt-test',
      choices: [{ index: 0, delta, finish_reason: null }],
      ...rest,
    })
    async function* answer() {
      yield chunk({ role: 'assistant', content: 'Hi' })
      yield chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
      yield chunk({}, { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } })
    }
    const agent = defineAgent({
      async run({ model }) {
        await model(answer(), openaiChat)
        await model(answer(), openaiChat)
      },
    })
    const { engine, events } = observed({ agent })
    const run = await engine.start({ threadId: 't', input: { messages: [] } })
    await engine.wait({ threadId: 't', ...run })
    const usage = { inputTokens: 7, outputTokens: 2 }
    const calls = events.filter((event) => event.type === 'run.model_called')
    expect(calls).toMatchObject(
      [1, 2].map(() => ({
        runId: run.runId,
        call: { provider: 'openai', model: 'gpt-test', finishReason: 'stop', usage, error: undefined },
      })),
    )
    for (const { call } of calls) {
      expect(call.firstTokenAt).toBeGreaterThanOrEqual(call.startedAt)
      expect(call.endedAt).toBeGreaterThanOrEqual(call.firstTokenAt!)
    }
    expect(events.at(-1)).toMatchObject({ type: 'run.ended', usage: { inputTokens: 14, outputTokens: 4 } })
  })

  test('when it waits, and why it ends without having started', async () => {
    const actor = puppet()
    const { engine, events, told } = observed({ a: actor.agent })
    await start(engine, 't')
    const runs = [await start(engine, 't'), await start(engine, 't')]
    expect(events.slice(1)).toMatchObject([
      { type: 'run.queued', position: 1 },
      { type: 'run.queued', position: 2 },
    ])
    await engine.cancel({ threadId: 't', runId: runs[0]!.runId })
    expect(events.at(-1)).toMatchObject({ type: 'run.ended', reason: 'cancelled', durationMs: null })
    const last = await start(engine, 't', {}, { multitaskStrategy: 'interrupt' })
    const superseded = events.find(
      (event) => ends(event) && 'runId' in event && event.runId === runs[1]!.runId,
    )
    expect(superseded).toMatchObject({ reason: 'superseded' })
    await eventually(() => told().filter((type) => type === 'run.started').length === 2)
    actor.finish()
    await engine.wait({ threadId: 't', runId: last.runId })
    expect(events.filter(ends).map((event) => 'reason' in event && event.reason)).toEqual([
      'cancelled',
      'superseded',
      'cancelled',
      'completed',
    ])
  })

  test('by the instance that takes it over, and by the one that hands it over', async () => {
    const shared = sharedMemory()
    const { place, kill } = killable(shared())
    const actor = puppet({ resumable: true })
    const lost = engineOf(
      { a: puppet({ resumable: true }).agent },
      {
        ...place,
        leaseTtlMs: 60,
        onError: () => {},
      },
    )
    const { runId } = await start(lost, 't')
    kill()
    const heir = observed({ a: actor.agent }, { ...shared(), leaseTtlMs: 60 })
    await eventually(() => heir.events.length > 0)
    expect(heir.events).toMatchObject([{ type: 'run.taken_over', runId, attempt: 2 }])
    await heir.engine.close()
    expect(heir.events.slice(1)).toMatchObject([{ type: 'run.handed_over', runId }])
    const last = observed({ a: actor.agent }, { ...shared(), leaseTtlMs: 60 })
    await eventually(() => last.events.length > 0)
    actor.finish()
    await last.engine.wait({ threadId: 't', runId })
    expect(last.events).toMatchObject([
      { type: 'run.taken_over', attempt: 3 },
      { type: 'run.ended', reason: 'completed' },
    ])
  })

  test('by the instance that lost its lease to another one', async () => {
    const shared = sharedMemory()
    const { store, checkpointer } = shared()
    const frozen = gate()
    const silent: Store = {
      ...store,
      async commit(partition, change) {
        if (change.ops.some(({ op }) => op === 'renew')) await frozen.opened
        return store.commit(partition, change)
      },
    }
    const fenced = observed({ a: puppet().agent }, { store: silent, checkpointer, leaseTtlMs: 40 })
    const { runId } = await start(fenced.engine, 't')
    const other = observed({ a: puppet().agent }, { ...shared(), leaseTtlMs: 40 })
    await eventually(() => other.events.length > 0)
    frozen.open()
    await eventually(() => fenced.events.length > 1)
    expect(fenced.events.slice(1)).toMatchObject([{ type: 'run.fenced', runId }])
    expect(other.events).toMatchObject([{ type: 'run.ended', runId, reason: 'lost' }])
  })

  test('that its process is lost and nobody may go on with it', async () => {
    const shared = sharedMemory()
    const { place, kill } = killable(shared())
    const lost = engineOf({ a: puppet().agent }, { ...place, leaseTtlMs: 60, onError: () => {} })
    await start(lost, 't')
    kill()
    const { events } = observed({ a: puppet().agent }, { ...shared(), leaseTtlMs: 60 })
    await eventually(() => events.length > 0)
    expect(events).toMatchObject([{ type: 'run.ended', status: 'error', reason: 'lost' }])
  })
})

test('whatever happens at once: a run ends once in what is told, and nothing is told of it afterwards', async () => {
  const strategies: readonly MultitaskStrategy[] = ['enqueue', 'interrupt', 'rollback', 'reject']
  const action = fc.oneof(
    fc.record({ do: fc.constant('start' as const), with: fc.constantFrom(...strategies) }),
    fc.record({ do: fc.constant('finish' as const) }),
    fc.record({ do: fc.constant('fail' as const) }),
    fc.record({ do: fc.constant('cancel' as const), nth: fc.nat(), rollback: fc.boolean() }),
    fc.record({ do: fc.constant('delete' as const) }),
    fc.record({ do: fc.constant('wait' as const), turns: fc.nat({ max: 10 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
      const actor = puppet()
      const events: ServerEvent[] = []
      // An agent may fail while it is cancelled: its error is reported, and the run ends as cancelled.
      const failure = new Error('x')
      const errors: unknown[] = []
      const engine = engineOf(
        { a: actor.agent },
        {
          observe: (event) => events.push(event),
          onError: (error) => error !== failure && errors.push(error),
          cancelGraceMs: 1,
        },
      )
      const runs: string[] = []
      const pending: Promise<unknown>[] = []
      for (const step of actions) {
        if (step.do === 'start') {
          const started = start(engine, 't', {}, { multitaskStrategy: step.with })
          pending.push(started.then(({ runId }) => runs.push(runId)).catch(() => {}))
        } else if (step.do === 'cancel' && runs.length > 0) {
          const runId = runs[step.nth % runs.length]!
          const how = step.rollback ? 'rollback' : 'interrupt'
          pending.push(engine.cancel({ threadId: 't', runId, action: how }).catch(() => {}))
        } else if (step.do === 'delete') pending.push(engine.deleteThread({ threadId: 't' }))
        else if (step.do === 'wait') await turns(step.turns)
        else if (step.do === 'finish') actor.finish()
        else if (step.do === 'fail') actor.fail(failure)
      }
      await Promise.all(pending)
      await engine.close()
      expect(errors).toEqual([])
      for (const runId of runs) {
        const types = events.flatMap((event) => ('runId' in event && event.runId === runId ? [event] : []))
        const waits =
          types.some(({ type }) => type === 'run.queued') && !types.some(({ type }) => type === 'run.started')
        // What waits when a server closes goes on waiting, for another one.
        if (!waits || types.some(ends)) expect(types.filter(ends)).toHaveLength(1)
        if (types.some(ends)) expect(ends(types.at(-1)!)).toBe(true)
        expect(types.filter(({ type }) => type === 'run.started').length).toBeLessThanOrEqual(1)
      }
    }),
    { numRuns: 60 },
  )
})

test('threads that are deleted are told of, with the runs that waited on them', async () => {
  const actor = puppet()
  const { engine, events } = observed({ a: actor.agent })
  await start(engine, 't')
  await start(engine, 't')
  await engine.deleteThread({ threadId: 't' })
  expect(events.slice(2)).toMatchObject([
    { type: 'run.ended', reason: 'deleted' },
    { type: 'run.ended', reason: 'cancelled' },
    { type: 'thread.deleted', threadId: 't', owner: null },
  ])
})

test('a store that is away is told of once, and once that it is back', async () => {
  const shared = sharedMemory()()
  let isAway = false
  const failing = new Proxy(shared.store, {
    get: (store, key) =>
      key === 'get' && isAway
        ? () => Promise.reject(new UnavailableError('Away.', { written: 'no' }))
        : Reflect.get(store, key),
  }) as Store
  const { engine, events } = observed({ a: puppet().agent }, { ...shared, store: failing })
  await engine.findThread({ threadId: 't' })
  isAway = true
  for (let at = 0; at < 3; at++) {
    await expect(engine.findThread({ threadId: 't' })).rejects.toThrow('Away.')
  }
  isAway = false
  await engine.findThread({ threadId: 't' })
  await engine.findThread({ threadId: 't' })
  expect(events).toMatchObject([
    { type: 'store.unavailable', error: { message: 'Away.' } },
    { type: 'store.recovered', awayMs: expect.any(Number) },
  ])
})

test('refused requests are told of by route and code, without ids', async () => {
  const events: ServerEvent[] = []
  const server = createAgentServer({
    agents: { a: puppet().agent },
    authenticate: (request) => (request.headers.get('authorization') ? { id: 'ann' } : null),
    authorize: (_, action) => action !== 'threads:delete',
    observe: (event) => events.push(event),
  })
  onTestFinished(() => server.close())
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    headers = { authorization: 'x' } as HeadersInit,
  ) =>
    server.fetch(
      new Request(`http://x${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
  await ask('GET', '/threads/secret/state', undefined, {})
  await ask('DELETE', '/threads/secret')
  await ask('GET', '/threads/secret')
  await ask('PUT', '/threads/secret')
  await ask('POST', '/threads/secret/commands', { id: 1, method: 'no.such' })
  await ask('POST', '/threads/secret/commands', {
    id: 1,
    method: 'input.respond',
    params: { interrupt_id: 'x' },
  })
  await ask('GET', '/threads')
  const told = events.map(
    (event) => event.type === 'request.refused' && [event.method, event.route, event.status, event.code],
  )
  expect(told).toEqual([
    ['GET', '/threads/:thread_id/state', 401, 'unauthorized'],
    ['DELETE', '/threads/:thread_id', 403, 'permission_denied'],
    ['GET', '/threads/:thread_id', 404, 'not_found'],
    ['PUT', undefined, 405, 'method_not_allowed'],
    ['POST', '/threads/:thread_id/commands', 200, 'unknown_command'],
    ['POST', '/threads/:thread_id/commands', 200, 'no_such_thread'],
  ])
  expect(JSON.stringify(events)).not.toContain('secret')
})

test('an observer that throws, rejects or never settles changes nothing', async () => {
  const reported: unknown[] = []
  for (const observe of [
    () => {
      throw new Error('thrown')
    },
    () => Promise.reject(new Error('rejected')),
    () => new Promise(() => {}),
  ]) {
    const actor = puppet()
    const engine: AgentEngine = engineOf(
      { a: actor.agent },
      { observe, onError: (error) => reported.push(error) },
    )
    const { runId } = await start(engine, 't')
    actor.finish()
    expect((await engine.wait({ threadId: 't', runId })).status).toBe('success')
    await engine.close()
  }
  expect(reported.map(String)).toEqual([
    'Error: thrown',
    'Error: thrown',
    'Error: rejected',
    'Error: rejected',
  ])
})

test('the status of a run is written in one place', () => {
  const folder = 'src/engine'
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  const writers = files.filter((name) => /\bputRun\b/.test(readFileSync(join(folder, name), 'utf8')))
  expect(writers.map((name) => name.replaceAll('\\', '/')).sort()).toEqual([
    'records/records.ts',
    'records/transition.ts',
  ])
})
