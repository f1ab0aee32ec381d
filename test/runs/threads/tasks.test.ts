import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import {
  type AgentEngine,
  type AgentEngineOptions,
  type AnswerRecord,
  type AnswerState,
  cancelAnswer,
  internalsOf,
  listAnswers,
  untilAnswered,
} from '../../../src/engine/index.ts'
import { loadRun, type RunRecord, type ThreadRecord } from '../../../src/engine/records/records.ts'
import { openStorage } from '../../../src/storage/open.ts'
import { BACKENDS } from '../../kit/backends.ts'
import { engineOf, recordOf } from '../../kit/engine.ts'
import { type Place, sharedMemory } from '../../kit/shared.ts'
import { eventually } from '../../kit/wait.ts'

const details = { contextId: 'c' }

const asks: Agent = defineAgent({
  async run({ interrupt, message }) {
    await message(`It is ${await interrupt<string>('Which?')}.`)
  },
})

const echo: Agent = defineAgent({
  async run({ message }) {
    await message('hello')
  },
})

const never: Agent = defineAgent({
  run: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
})

const fails: Agent = defineAgent({
  run() {
    throw new Error('no')
  },
})

/** Does what its input says. */
const obeys: Agent = defineAgent({
  async run({ input, interrupt, message, reject, signal }) {
    const { act } = Object(input) as { readonly act?: string }
    if (act === 'ask') await interrupt('Which?')
    if (act === 'ask twice') await Promise.all([interrupt('Which?'), interrupt('And?')])
    if (act === 'fail') throw new Error('no')
    if (act === 'reject') reject('not me')
    if (act === 'work')
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    await message('done')
  },
})

const agents = { asks, echo, never, fails, obeys }

/** Makes engines over one empty store, closed when the test ends. */
type Instances = (options?: Partial<AgentEngineOptions>) => AgentEngine

const instances = (place: () => Place): Instances => {
  const engines: AgentEngine[] = []
  onTestFinished(async () => void (await Promise.all(engines.map((engine) => engine.close()))))
  return (options) => {
    const engine = engineOf(agents, { ...place(), ...options })
    engines.push(engine)
    return engine
  }
}

const STORES: readonly { name: string; open(): Promise<Instances> }[] = [
  { name: 'memory', open: async () => instances(sharedMemory()) },
  ...BACKENDS.filter((backend) => backend.installed()).map((backend) => ({
    name: backend.name,
    async open() {
      const database = await backend.create()
      onTestFinished(() => database.remove())
      const storage = await openStorage(database.url)
      onTestFinished(() => storage.close())
      await storage.setup()
      return instances(() => storage)
    },
  })),
]

const input = { messages: [{ type: 'human', content: 'hi' }] }

describe.each(STORES)('tasks over $name', ({ open }) => {
  test('a task has the state of its run', async () => {
    const instance = await open()
    const engine = instance()
    const done = await engine.start({ threadId: 't', assistantId: 'echo', input, answer: { details } })
    await engine.wait({ threadId: 't', runId: done.runId })
    expect(await recordOf(engine, { threadId: 't', answerId: done.runId })).toMatchObject({
      taskId: done.runId,
      runIds: [done.runId],
      state: 'completed',
      details,
      assistantId: 'echo',
      error: null,
    })
    const failed = await engine.start({ threadId: 'f', assistantId: 'fails', input, answer: { details } })
    await engine.wait({ threadId: 'f', runId: failed.runId })
    const task = await recordOf(engine, { threadId: 'f', answerId: failed.runId })
    expect(task?.state).toBe('failed')
    expect(task?.error).toContain('no')
    await engine.close()
  })

  test('an answer goes on with the task that asked, whoever gives it', async () => {
    const instance = await open()
    const engine = instance()
    const asked = await engine.start({ threadId: 't', assistantId: 'asks', input, answer: { details } })
    const { interrupts } = await engine.wait({ threadId: 't', runId: asked.runId })
    expect((await recordOf(engine, { threadId: 't', answerId: asked.runId }))?.state).toBe('input-required')
    const answered = await engine.respond({ threadId: 't', answers: { [interrupts[0]!.id]: 'blue' } })
    await engine.wait({ threadId: 't', runId: answered.runId })
    const task = await recordOf(engine, { threadId: 't', answerId: answered.runId })
    expect(task).toMatchObject({
      taskId: asked.runId,
      runIds: [asked.runId, answered.runId],
      state: 'completed',
    })
    await expect(
      engine.start({ threadId: 't', input, answer: { id: asked.runId, details } }),
    ).rejects.toMatchObject({
      code: 'task_ended',
    })
    await expect(engine.start({ threadId: 't', input, answer: { id: 'x', details } })).rejects.toMatchObject({
      code: 'no_such_task',
    })
    await engine.close()
  })

  test('a task works until the last of its messages is done, and is cancelled with it', async () => {
    const instance = await open()
    const engine = instance()
    const first = await engine.start({ threadId: 't', assistantId: 'never', input, answer: { details } })
    const taskId = first.runId
    const second = await engine.start({ threadId: 't', input, answer: { id: taskId, details } })
    const state = async () => (await recordOf(engine, { threadId: 't', answerId: taskId }))?.state
    expect(await state()).toBe('working')
    expect((await recordOf(engine, { threadId: 't', answerId: taskId }))?.runIds).toEqual([
      taskId,
      second.runId,
    ])
    await engine.cancel({ threadId: 't', runId: first.runId })
    await engine.wait({ threadId: 't', runId: first.runId })
    expect(await state()).toBe('working')
    await eventually(async () => (await engine.measure()).queued === 0)
    expect((await recordOf(engine, { threadId: 't', answerId: taskId }))?.runIds).toEqual([
      taskId,
      second.runId,
    ])
    await engine.cancel({ threadId: 't', runId: second.runId })
    await engine.wait({ threadId: 't', runId: second.runId })
    expect(await state()).toBe('canceled')
    await engine.close()
  })

  test('a message that waits is withdrawn without ending the task that works', async () => {
    const instance = await open()
    const engine = instance()
    const first = await engine.start({ threadId: 't', assistantId: 'never', input, answer: { details } })
    const second = await engine.start({ threadId: 't', input, answer: { id: first.runId, details } })
    await engine.cancel({ threadId: 't', runId: second.runId })
    expect((await recordOf(engine, { threadId: 't', answerId: first.runId }))?.state).toBe('working')
    await engine.close()
  })

  test('tasks are listed by owner, assistant and state, the last changed first', async () => {
    const instance = await open()
    const engine = instance()
    const ids: string[] = []
    for (const threadId of ['a', 'b', 'c']) {
      const principal = { id: 'ann' }
      const { runId } = await engine.start({
        threadId,
        principal,
        assistantId: 'echo',
        input,
        answer: { details },
      })
      await engine.wait({ threadId, principal, runId })
      ids.unshift(runId)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const asked = await engine.start({
      threadId: 'd',
      principal: { id: 'ann' },
      assistantId: 'asks',
      input,
      answer: { details },
    })
    await engine.wait({ threadId: 'd', principal: { id: 'ann' }, runId: asked.runId })
    const list = (query: object = {}) =>
      listAnswers(engine, { principal: { id: 'ann' }, assistantId: 'echo', limit: 2, ...query })
    const first = await list()
    expect(first.tasks.map(({ taskId }) => taskId)).toEqual(ids.slice(0, 2))
    expect(first.total).toBe(3)
    const second = await list({ cursor: first.cursor })
    expect(second.tasks.map(({ taskId }) => taskId)).toEqual(ids.slice(2))
    expect(second.cursor).toBeUndefined()
    expect((await list({ threadId: 'b' })).tasks.map(({ taskId }) => taskId)).toEqual([ids[1]])
    expect((await list({ state: 'input-required' })).total).toBe(0)
    expect((await list({ state: 'input-required', assistantId: 'asks' })).total).toBe(1)
    expect((await list({ principal: { id: 'bob' } })).total).toBe(0)
    expect(
      await recordOf(engine, { threadId: 'a', principal: { id: 'bob' }, answerId: ids[2]! }),
    ).toBeUndefined()
    await engine.close()
  })

  test('a run that nobody started as a task can be found as one', async () => {
    const instance = await open()
    const engine = instance()
    const { runId } = await engine.start({ threadId: 't', assistantId: 'echo', input })
    await engine.wait({ threadId: 't', runId })
    expect(await recordOf(engine, { threadId: 't', answerId: runId })).toMatchObject({
      taskId: runId,
      state: 'completed',
    })
    expect((await listAnswers(engine, { assistantId: 'echo', limit: 10 })).total).toBe(0)
    await engine.close()
  })

  /** Helpers around one thread. */
  const on = (engine: AgentEngine, threadId = 't') => ({
    begin: async (act?: string, rest: object = {}) => {
      const run = { threadId, assistantId: 'obeys', input: { act }, answer: { details }, ...rest }
      return (await engine.start(run)).runId
    },
    more: async (taskId: string, act?: string) =>
      (await engine.start({ threadId, input: { act }, answer: { id: taskId, details } })).runId,
    ended: (runId: string) => engine.wait({ threadId, runId }),
    task: (taskId: string) => recordOf(engine, { threadId, answerId: taskId }),
    is: async (taskId: string, state: AnswerState) =>
      eventually(async () => (await recordOf(engine, { threadId, answerId: taskId }))?.state === state, {
        timeoutMs: 200_000,
        what: `${taskId} as ${state}`,
      }),
    answer: async (value: unknown = 'blue', rest: object = {}) => {
      const thread = await engine.findThread({ threadId })
      const answers = Object.fromEntries(thread!.interrupts.map(({ id }) => [id, value]))
      return (await engine.respond({ threadId, answers, ...rest })).runId
    },
  })

  test('each end of a run is the end of its task', async () => {
    const engine = (await open())()
    const ends = { done: 'completed', fail: 'failed', reject: 'rejected', ask: 'input-required' } as const
    for (const [act, state] of Object.entries(ends)) {
      const { begin, ended, task } = on(engine, act)
      const taskId = await begin(act)
      await ended(taskId)
      const record = await task(taskId)
      expect(record).toMatchObject({ state, runIds: [taskId], openRunIds: [] })
      expect(record?.firstSeq).toBe(1)
      expect(record?.error).toBe(act === 'fail' ? 'no' : act === 'reject' ? 'not me' : null)
    }
    const { begin, ended, is } = on(engine, 'work')
    const taskId = await begin('work')
    await is(taskId, 'working')
    await engine.cancel({ threadId: 'work', runId: taskId, action: 'rollback' })
    await ended(taskId)
    await is(taskId, 'canceled')
  })

  test('a task that waits is submitted, and works in its turn', async () => {
    const engine = (await open())()
    const { begin, more, ended, task, is } = on(engine)
    const first = await begin('work')
    const second = await begin('done')
    const follow = await more(second, 'done')
    expect(await task(second)).toMatchObject({
      state: 'submitted',
      runIds: [second, follow],
      openRunIds: [second, follow],
      firstSeq: null,
    })
    await cancelAnswer(engine, { threadId: 't', answerId: first })
    await ended(first)
    await ended(second)
    await ended(follow)
    await is(second, 'completed')
    const { firstSeq, runIds } = (await task(second))!
    expect(runIds).toEqual([second, follow])
    expect(firstSeq).toBeGreaterThan(1)
    await is(first, 'canceled')
  })

  test('the runs of a task are in the order in which they begin', async () => {
    const engine = (await open())()
    const { begin, more, ended, task, answer, is } = on(engine)
    const first = await begin('ask')
    await ended(first)
    const blocker = await engine.start({
      threadId: 't',
      input: { act: 'work' },

      answer: { id: first, details },
    })
    const later = await more(first, 'done')
    await engine.cancel({ threadId: 't', runId: blocker.runId })
    await ended(later)
    expect((await task(first))?.runIds).toEqual([first, blocker.runId, later])
    await is(first, 'completed')
    // An answer goes before a message that came earlier.
    const asking = await begin('ask')
    await ended(asking)
    const held = await answer('blue')
    await ended(held)
    expect((await task(asking))?.runIds).toEqual([asking, held])
  })

  test('a message that is dropped before it begins leaves no trace in its task', async () => {
    const engine = (await open())()
    const { begin, more, task, ended } = on(engine)
    const first = await begin('work')
    const before = await task(first)
    const dropped = await more(first)
    await engine.cancel({ threadId: 't', runId: dropped })
    expect(await task(first)).toEqual(before)
    expect((await task(dropped))?.taskId).toBe(first)
    await cancelAnswer(engine, { threadId: 't', answerId: first })
    await ended(first)
    expect(await task(first)).toMatchObject({ state: 'canceled', runIds: [first], openRunIds: [] })
  })

  test('a cancel ends a task that waits, that asks and that works with messages behind it', async () => {
    const engine = (await open())()
    const { begin, more, ended, is, task } = on(engine)
    const first = await begin('work')
    const waiting = await begin('done')
    const behind = await more(first, 'done')
    expect(await cancelAnswer(engine, { threadId: 't', answerId: waiting })).toMatchObject({
      state: 'submitted',
    })
    expect((await task(waiting))?.state).toBe('canceled')
    expect(await cancelAnswer(engine, { threadId: 't', answerId: first })).toMatchObject({ state: 'working' })
    await ended(first)
    await is(first, 'canceled')
    expect((await loadRun(internalsOf(engine).store, 't', behind))?.record.status).toBe('interrupted')
    const asking = await begin('ask')
    await ended(asking)
    expect(await cancelAnswer(engine, { threadId: 't', answerId: asking })).toMatchObject({
      state: 'input-required',
    })
    expect((await task(asking))?.state).toBe('canceled')
    expect(await engine.findThread({ threadId: 't' })).toMatchObject({ status: 'idle', interrupts: [] })
    const over = await task(asking)
    expect(await cancelAnswer(engine, { threadId: 't', answerId: asking })).toEqual(over)
    expect(await task(asking)).toEqual(over)
    await expect(cancelAnswer(engine, { threadId: 't', answerId: 'x' })).rejects.toMatchObject({
      code: 'no_such_task',
    })
  })

  test('what is no answer ends the task that asked', async () => {
    const engine = (await open())()
    const { begin, ended, task } = on(engine)
    const other = on(engine, 'fork')
    const asking = await begin('ask')
    await ended(asking)
    // A new task of the same thread.
    const next = await begin('ask')
    await ended(next)
    expect(await task(asking)).toMatchObject({
      state: 'canceled',
      error: expect.stringContaining('without an answer'),
    })
    // A state that leaves the question behind.
    await engine.writeState({ threadId: 't', values: {} })
    expect((await task(next))?.state).toBe('input-required')
    await engine.writeState({ threadId: 't', values: {}, asNode: 'agent' })
    expect((await task(next))?.state).toBe('canceled')
    // A run from an earlier checkpoint.
    const first = await other.begin('done')
    await other.ended(first)
    const thread = await engine.findThread({ threadId: 'fork' })
    const checkpointId = (await engine.readState(thread!))?.checkpoint?.checkpointId
    const asked = await other.begin('ask')
    await other.ended(asked)
    const fork = await engine.start({ threadId: 'fork', input: { act: 'done' }, checkpointId })
    await other.ended(fork.runId)
    expect((await other.task(asked))?.state).toBe('canceled')
  })

  test('a question is answered after the record of the run that asked is gone', async () => {
    const engine = (await open())()
    const { begin, ended, task, answer } = on(engine)
    const asking = await begin('ask')
    await ended(asking)
    await internalsOf(engine).store.commit('t', { ops: [{ op: 'delete', collection: 'runs', id: asking }] })
    const answered = await answer('blue')
    await ended(answered)
    expect(await task(asking)).toMatchObject({ state: 'completed', runIds: [asking, answered] })
  })

  test('a new input over a face that knows no tasks answers the question of the task', async () => {
    const engine = (await open())()
    const { begin, ended, task } = on(engine)
    const asking = await begin('ask')
    await ended(asking)
    const { runId } = await engine.start({ threadId: 't', input: 'blue' })
    await ended(runId)
    expect(await task(asking)).toMatchObject({ state: 'completed', runIds: [asking, runId] })
  })

  test('some answers leave a task waiting for the others', async () => {
    const engine = (await open())()
    const { begin, ended, task } = on(engine)
    const asking = await begin('ask twice')
    const { interrupts } = await ended(asking)
    expect(interrupts).toHaveLength(2)
    const one = await engine.respond({ threadId: 't', answers: { [interrupts[0]!.id]: 1 } })
    await ended(one.runId)
    expect(await task(asking)).toMatchObject({ state: 'input-required', runIds: [asking, one.runId] })
    const two = await engine.respond({ threadId: 't', answers: { [interrupts[1]!.id]: 2 } })
    await ended(two.runId)
    expect(await task(asking)).toMatchObject({ state: 'completed', runIds: [asking, one.runId, two.runId] })
  })

  test('a run that was started as none becomes a task with the first message that names it', async () => {
    const engine = (await open())()
    const { more, ended, task, is } = on(engine)
    const { runId } = await engine.start({ threadId: 't', assistantId: 'obeys', input: { act: 'work' } })
    await is(runId, 'working')
    const follow = await more(runId, 'done')
    expect(await task(runId)).toMatchObject({ state: 'working', runIds: [runId, follow], details })
    await engine.cancel({ threadId: 't', runId: follow })
    expect(await task(runId)).toMatchObject({ state: 'working', runIds: [runId] })
    await cancelAnswer(engine, { threadId: 't', answerId: runId })
    await ended(runId)
    await is(runId, 'canceled')
    const asked = await engine.start({ threadId: 't', input: { act: 'ask' } })
    const { interrupts } = await ended(asked.runId)
    expect((await task(asked.runId))?.state).toBe('input-required')
    const answers = { [interrupts[0]!.id]: 'blue' }
    const answer = await engine.respond({ threadId: 't', answers, answer: { id: asked.runId, details } })
    await ended(answer.runId)
    expect(await task(asked.runId)).toMatchObject({ state: 'completed', runIds: [asked.runId, answer.runId] })
    const done = await engine.start({ threadId: 't', input: { act: 'done' } })
    await ended(done.runId)
    await expect(more(done.runId)).rejects.toMatchObject({ code: 'task_ended' })
    expect((await listAnswers(engine, { assistantId: 'obeys', limit: 10 })).total).toBe(2)
  })

  test('the question of a run that was started as none can be cancelled', async () => {
    const engine = (await open())()
    const { ended, task } = on(engine)
    const { runId } = await engine.start({ threadId: 't', assistantId: 'obeys', input: { act: 'ask' } })
    await ended(runId)
    await cancelAnswer(engine, { threadId: 't', answerId: runId })
    expect((await task(runId))?.state).toBe('canceled')
    expect((await engine.findThread({ threadId: 't' }))?.interrupts).toEqual([])
    expect((await listAnswers(engine, { assistantId: 'obeys', limit: 10 })).total).toBe(0)
  })

  test('a message is taken once, whatever becomes of its task', async () => {
    const engine = (await open())()
    const { begin, ended, task } = on(engine)
    const command = { key: 'k', fingerprint: 'f' }
    const [one, two] = await Promise.all([begin('ask', { command }), begin('ask', { command })])
    expect(two).toBe(one)
    await ended(one)
    const record = await task(one)
    expect(await begin('ask', { command })).toBe(one)
    expect(await task(one)).toEqual(record)
    await expect(begin('ask', { command: { key: 'k', fingerprint: 'g' } })).rejects.toMatchObject({
      code: 'key_reused',
    })
    expect(await task(one)).toEqual(record)
  })

  test('a thread takes its tasks with it, and whoever waits for them', async () => {
    const instance = await open()
    const [engine, other] = [instance(), instance()]
    const { begin, ended, task } = on(engine)
    const asking = await begin('ask')
    await ended(asking)
    const waits = untilAnswered(other, { threadId: 't', answerId: asking }).then(
      (found) => found?.record.state,
      (error) => error.code,
    )
    await engine.deleteThread({ threadId: 't' })
    expect([undefined, 'no_such_thread']).toContain(await waits)
    expect(await task(asking)).toBeUndefined()
    expect(await listAnswers(engine, { assistantId: 'obeys', limit: 10 })).toEqual({ tasks: [], total: 0 })
    expect((await internalsOf(engine).store.list('answers')).docs).toEqual([])
  })

  test('a task outlives the events of its thread', async () => {
    const engine = (await open())()
    const { begin, ended, task, answer } = on(engine)
    const asking = await begin('ask')
    await ended(asking)
    await internalsOf(engine).store.trim('t', { keepLast: 1 })
    const answered = await answer()
    await ended(answered)
    expect((await task(asking))?.state).toBe('completed')
  })

  test('a list is of its owner, assistant, thread, state and time, on pages that stay as they were', async () => {
    const engine = (await open())()
    const ids: string[] = []
    const times: number[] = []
    for (let i = 0; i < 12; i++) {
      const { begin, ended, task } = on(engine, i % 3 === 0 ? 'one' : `t${i}`)
      const taskId = await begin(i % 4 === 0 ? 'fail' : 'done')
      await ended(taskId)
      ids.unshift(taskId)
      times.unshift((await task(taskId))!.updatedAt)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const bob = { threadId: 'bobs', principal: { id: 'bob' } }
    const bobs = await engine.start({ ...bob, assistantId: 'obeys', input: {}, answer: { details } })
    await engine.wait({ ...bob, runId: bobs.runId })
    const read = async (query: object, change = async () => {}) => {
      const found: string[] = []
      let cursor: string | undefined
      do {
        const page = await listAnswers(engine, { assistantId: 'obeys', limit: 3, cursor, ...query })
        expect(page.tasks.length).toBeGreaterThan(0)
        if (cursor === undefined) expect(page.total).toBe(expected.get(query)!.length)
        found.push(...page.tasks.map(({ taskId }) => taskId))
        cursor = page.cursor
        await change()
      } while (cursor !== undefined)
      return found
    }
    const at = (wanted: (n: number) => boolean) => ids.filter((_, i) => wanted(11 - i))
    const expected = new Map<object, readonly string[]>([
      [{}, ids],
      [{ threadId: 'one' }, at((n) => n % 3 === 0)],
      [{ state: 'failed' }, at((n) => n % 4 === 0)],
      [{ state: 'failed', threadId: 'one' }, at((n) => n % 12 === 0)],
      [{ since: times[4] }, ids.slice(0, 5)],
      [{ since: times[11]! - 1 }, ids],
      [{ since: times[4], state: 'completed' }, at((n) => n % 4 !== 0).filter((id) => ids.indexOf(id) <= 4)],
      [{ principal: { id: 'bob' } }, [bobs.runId]],
    ])
    for (const [query, wanted] of expected) expect(await read(query)).toEqual(wanted)
    const later = { assistantId: 'obeys', limit: 3, since: times[0]! + 60_000 }
    expect(await listAnswers(engine, later)).toEqual({ tasks: [], total: 0 })
    // What begins meanwhile comes before the page that was read, and moves nothing.
    let more = 0
    const change = async () => {
      const { begin, ended } = on(engine, `later${more++}`)
      await ended(await begin('done'))
    }
    const [first] = expected.keys()
    expect(await read(first!, change)).toEqual(ids)
    expect((await listAnswers(engine, { assistantId: 'obeys', limit: 1 })).total).toBe(12 + more)
    expect((await listAnswers(engine, { assistantId: 'obeys', limit: 1, state: 'working' })).total).toBe(0)
    expect((await listAnswers(engine, { assistantId: 'echo', limit: 1 })).total).toBe(0)
  })
})

const COMMANDS = [
  'begin',
  'follow',
  'answer',
  'input',
  'cancel task',
  'cancel run',
  'roll back',
  'delete',
  'wait',
] as const
const ACTS = ['done', 'ask', 'fail', 'reject', 'work'] as const

interface Step {
  readonly command: (typeof COMMANDS)[number]
  readonly act: (typeof ACTS)[number]
  /** Which engine, and which of the tasks or runs so far. */
  readonly engine: number
  readonly which: number
  /** The next step begins before this one has settled. */
  readonly overlaps: boolean
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    command: fc.oneof({ weight: 3, arbitrary: fc.constant('begin' as const) }, fc.constantFrom(...COMMANDS)),
    act: fc.constantFrom(...ACTS),
    engine: fc.nat(1),
    which: fc.nat(20),
    overlaps: fc.boolean(),
  }),
  { minLength: 4, maxLength: 16 },
)

const ENDED: readonly AnswerState[] = ['completed', 'failed', 'rejected', 'canceled']

/** What the records of its runs say of a task that has settled. */
function settledState(
  { taskId, error }: AnswerRecord,
  runs: readonly RunRecord[],
  waits: boolean,
): AnswerState {
  const last = runs.at(-1)
  if (last?.startedAt == null || last.task?.taskId !== taskId) return 'canceled'
  if (last.status === 'success') return 'completed'
  if (last.status === 'error') return error === 'not me' ? 'rejected' : 'failed'
  return waits ? 'input-required' : 'canceled'
}

test.each(STORES)(
  'whatever happens at once, the tasks are what their runs say, over $name',
  async ({ name, open }) => {
    const instance = await open()
    // An agent that fails while it is cancelled is reported, although its run did not fail.
    const errors: unknown[] = []
    const onError = (error: unknown) => void ((error as Error).message === 'no' || errors.push(error))
    const engines = [instance({ onError }), instance({ onError })]
    const { store } = internalsOf(engines[0]!)
    let round = 0
    const live = async (all: readonly Step[]) => {
      const threadId = `thread ${++round}`
      const run = { threadId, assistantId: 'obeys' }
      const made: string[] = []
      const over = new Map<string, AnswerRecord>()
      const look = async () => {
        for (const { value } of (await store.list('answers', { partition: threadId })).docs) {
          const task = value as unknown as AnswerRecord
          if (over.has(task.taskId)) expect(task).toEqual(over.get(task.taskId))
          if (ENDED.includes(task.state)) over.set(task.taskId, task)
        }
      }
      const take = async ({ command, act, engine: at, which }: Step) => {
        const engine = engines[at]!
        const one = made.length > 0 ? made[which % made.length]! : 'none'
        const started = async (work: Promise<{ readonly runId: string }>) => made.push((await work).runId)
        switch (command) {
          case 'begin':
            return started(engine.start({ ...run, input: { act }, answer: { details } }))
          case 'follow':
            return started(engine.start({ ...run, input: { act }, answer: { id: one, details } }))
          case 'input':
            return started(engine.start({ ...run, input: { act } }))
          case 'answer': {
            const [open] = (await engine.findThread(run))?.interrupts ?? []
            return open && started(engine.respond({ threadId, answers: { [open.id]: 'blue' } }))
          }
          case 'cancel task':
            return cancelAnswer(engine, { threadId, answerId: one })
          case 'cancel run':
            return engine.cancel({ threadId, runId: one })
          case 'roll back':
            return engine.cancel({ threadId, runId: one, action: 'rollback' })
          case 'delete':
            if (which > 2) return undefined
            await engine.deleteThread({ threadId })
            return over.clear()
          case 'wait':
            return new Promise((resolve) => setTimeout(resolve, which))
        }
      }
      const under: Promise<unknown>[] = []
      for (const step of all) {
        const taken = take(step).catch((error) => expect(REFUSALS).toContain(error.code))
        under.push(taken)
        // A deletion ends what is remembered of the tasks.
        if (!step.overlaps || step.command === 'delete') await Promise.all(under)
        await look()
      }
      await Promise.all(under)
      const thread = async () =>
        (await store.get(threadId, 'threads', threadId))?.value as ThreadRecord | undefined
      for (let now = await thread(); now && (now.activeRunId || now.queue.length > 0); now = await thread()) {
        if (now.activeRunId) await engines[0]!.cancel({ threadId, runId: now.activeRunId }).catch(() => {})
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      await look()
      const last = await thread()
      const tasks = (await store.list('answers', { partition: threadId })).docs.map(
        ({ value }) => value as unknown as AnswerRecord,
      )
      for (const task of tasks) {
        const runs = await Promise.all(
          task.runIds.map(async (id) => (await loadRun(store, threadId, id))!.record),
        )
        const begun = runs.flatMap(({ firstSeq }) => firstSeq ?? [])
        expect(begun).toEqual([...begun].sort((a, b) => a - b))
        expect(task.firstSeq).toBe(begun.at(-1) ?? null)
        expect(task.openRunIds).toEqual([])
        const waits = last!.status === 'interrupted' && last!.lastTaskId === task.taskId
        const said = settledState(task, runs, waits)
        // A message that is dropped cancels the task that has nothing else to do.
        if (task.state !== 'canceled') expect(task.state).toBe(said)
        else expect(waits && said === 'input-required' && last!.interrupts.length === 0).toBe(false)
      }
      for (const state of [...ENDED, 'submitted', 'working', 'input-required'] as const) {
        const { total } = await listAnswers(engines[1]!, { assistantId: 'obeys', threadId, state, limit: 1 })
        expect(total).toBe(tasks.filter((task) => task.state === state).length)
      }
    }
    await fc.assert(fc.asyncProperty(steps, live), { numRuns: name === 'memory' ? 60 : 15 })
    expect(errors).toEqual([])
  },
  60_000,
)

const REFUSALS = [
  'no_such_task',
  'task_ended',
  'no_such_run',
  'no_such_thread',
  'no_such_interrupt',
  'invalid_argument',
  'thread_busy',
]
