import { describe, expect, test } from 'vitest'
import { internalsOf } from '../../../src/engine/index.ts'
import { putAnswer } from '../../../src/engine/records/records.ts'
import { memoryStore } from '../../../src/index.ts'
import { recordOf } from '../../kit/engine.ts'
import type { Json } from '../../kit/events.ts'
import { sharedFile } from '../../kit/shared.ts'
import { eventually, gate, turns } from '../../kit/wait.ts'
import {
  type Answer,
  answerOf,
  artifactsOf,
  byToken,
  clientOf,
  serve,
  stateOf,
  threads,
  turnsOf,
  VERSIONS,
} from '../served.ts'
import { asks, echo, graph, held } from '../served-agents.ts'

const A_UUID = '0b0c9ad4-5a4e-4c8e-9a3b-0f6f3f0d9c11'

const refusal = ({ error }: Answer) => [error?.code, error?.message]

describe.each(VERSIONS)('version %s', (version) => {
  test('a task is found by its id, and by the id of one of its runs beside the context', async () => {
    const { server } = serve({ asks: asks() })
    const client = clientOf(server, { assistant: 'asks', version })
    const { result: asked } = await client.send({ text: 'x', contextId: 'a:b' })
    const answer = { text: 'blue', taskId: asked.id }
    const { result: done } = await client.send(answer)
    expect([done.id, stateOf(done)]).toEqual([asked.id, 'completed'])
    const run = asked.id.slice('a:b:'.length)
    for (const found of [
      await client.get(asked.id),
      await client.get(asked.id, { contextId: 'a:b' }),
      await client.get(run, { contextId: 'a:b' }),
    ])
      expect(found.result).toEqual(done)
    const [thread] = await threads(server, '/search', {})
    const state = await threads(server, `/${thread.thread_id}/state`)
    const second = state.metadata.run_id
    expect(second).not.toBe(run)
    expect((await client.get(second, { contextId: 'a:b' })).result).toEqual(done)
  })

  test('unknown tasks, those of others and mismatches are refused, in words that tell nothing', async () => {
    const { server, written } = serve({ echo: echo(), other: echo() }, { authenticate: byToken })
    const client = clientOf(server, { assistant: 'echo', version, token: 'ann' })
    const { result: task } = await client.send({ text: 'x', contextId: 'c' })
    const before = written()
    const unknown = [
      await client.get('unknown'),
      await client.get('c:unknown'),
      await client.get(`c:${A_UUID}`),
      await client.get(':'),
      await client.get('c:'),
      await client.get(`:${task.id.slice(2)}`),
      await client.get(task.id.slice(2)),
      await client.get(`${A_UUID}:${A_UUID}`),
      await client.get(`c:${'x'.repeat(1_000_000)}`),
      await client.get(`${'x'.repeat(1_000_000)}:${A_UUID}`),
      await client.get('c:__proto__'),
      await client.get('__proto__:__proto__'),
      await clientOf(server, { assistant: 'other', version, token: 'ann' }).get(task.id),
      await clientOf(server, { assistant: 'echo', version, token: 'bob' }).get(task.id),
      await client.cancel('c:unknown'),
      await client.subscribe('c:unknown'),
      await client.send({ text: 'x', taskId: 'c:unknown' }),
      await client.stream({ text: 'x', taskId: 'unknown' }),
      await clientOf(server, { assistant: 'echo', version, token: 'bob' }).cancel(task.id),
      await clientOf(server, { assistant: 'echo', version, token: 'bob' }).send({
        text: 'x',
        taskId: task.id,
      }),
    ]
    for (const answer of unknown) {
      expect(answer.error.code).toBe(-32001)
      expect(answer.error.message).toMatch(/^Task ".*" not found\.$/)
      expect(answer.text.length).toBeLessThan(2_500)
    }
    const mismatch = [
      await client.get(task.id, { contextId: 'd' }),
      await client.send({ text: 'x', taskId: task.id, contextId: 'd' }),
      await client.get(`${'x'.repeat(1_000_000)}:1`, { contextId: 'd' }),
    ]
    for (const answer of mismatch) {
      expect(answer.error.code).toBe(-32602)
      expect(answer.error.message).toContain('contextId')
      expect(answer.text.length).toBeLessThan(2_500)
    }
    expect(written()).toBe(before)
  })

  test('a task that has ended takes no message, no cancel and no subscriber', async () => {
    const { server, written } = serve({ echo: echo() })
    const client = clientOf(server, { assistant: 'echo', version })
    const { result: task } = await client.send({ text: 'x' })
    const before = written()
    for (const answer of [
      await client.send({ text: 'y', taskId: task.id }),
      await client.stream({ text: 'y', taskId: task.id }),
      await client.subscribe(task.id),
    ]) {
      expect(answer.error.code).toBe(-32004)
      expect(answer.error.message).toContain('completed')
    }
    for (const answer of [await client.cancel(task.id), await client.cancel(task.id)])
      expect(answer.error.code).toBe(-32002)
    expect(written()).toBe(before)
    expect((await client.get(task.id)).result).toEqual(task)
  })

  test('a run that was started over /threads is a task by its id', async () => {
    const { server, engine } = serve({ asks: asks() })
    const client = clientOf(server, { assistant: 'asks', version })
    const input = { messages: [{ type: 'human', content: 'x', id: 'h' }] }
    const { runId } = await engine.start({ threadId: A_UUID, input })
    await engine.wait({ threadId: A_UUID, runId })
    const id = `${A_UUID}:${runId}`
    for (const { result } of [await client.get(id), await client.get(runId, { contextId: A_UUID })]) {
      expect([result.id, stateOf(result)]).toEqual([id, 'input-required'])
      expect(JSON.stringify(result.status.message)).toContain('Which colour?')
    }
    const { result: done } = await client.send({ text: 'blue', taskId: id })
    expect([done.id, stateOf(done), answerOf(done)]).toEqual([id, 'completed', 'It is "blue".'])
    const again = await engine.start({ threadId: A_UUID, input })
    await engine.wait({ threadId: A_UUID, runId: again.runId })
    const { result: cancelled } = await client.cancel(`${A_UUID}:${again.runId}`)
    expect(stateOf(cancelled)).toBe('canceled')
    expect(stateOf((await client.get(`${A_UUID}:${again.runId}`)).result)).toBe('canceled')
    expect((await threads(server, `/${A_UUID}`)).status).toBe('idle')
  })

  test('a message that is sent again within its context has one effect', async () => {
    const { server } = serve({ asks: asks(), echo: echo() })
    const client = clientOf(server, { assistant: 'echo', version })
    const words = { text: 'x', messageId: 'm', contextId: 'c' }
    const atOnce = await Promise.all([1, 2, 3].map(() => client.send(words)))
    const later = await client.send(words)
    const streamed = await client.stream(words)
    const [{ result: task }] = atOnce as [Answer]
    for (const { result } of [...atOnce, later]) expect(result).toEqual(task)
    expect(streamed.items[0].id).toBe(task.id)
    expect(stateOf(streamed.result)).toBe('completed')
    expect(answerOf({ artifacts: artifactsOf(streamed.items) })).toBe('You said: x')
    const { result: list } = await clientOf(server, { assistant: 'echo' }).list({ contextId: 'c' })
    expect(list.totalSize).toBe(1)
    for (const other of [
      { ...words, text: 'y' },
      { ...words, parts: [{ kind: 'data', data: { x: 1 } }] },
      { ...words, command: { resume: 1 } },
    ]) {
      const { error } = await client.send(other)
      expect(error.code).toBe(-32602)
      expect(error.message).toContain('messageId')
    }
    const { result: elsewhere } = await client.send({ ...words, contextId: 'd' })
    expect(elsewhere.id).not.toBe(task.id)
  })

  test('an answer that is sent again has one effect, whatever has happened since', async () => {
    const { server } = serve({ asks: asks() })
    const client = clientOf(server, { assistant: 'asks', version })
    const { result: asked } = await client.send({ text: 'x', contextId: 'c', messageId: 'm' })
    const answer = { text: 'blue', taskId: asked.id, messageId: 'a' }
    const [one, two] = await Promise.all([client.send(answer), client.send(answer)])
    const three = await client.send(answer)
    const four = await client.send({ ...answer, contextId: 'c' })
    for (const { result } of [one, two, three, four]) expect(result).toEqual(one.result)
    expect(answerOf(one.result)).toBe('It is "blue".')
    const first = await client.send({ text: 'x', contextId: 'c', messageId: 'm' })
    expect(first.result).toEqual(one.result)
    const streamed = await client.stream(answer)
    expect([streamed.items[0].id, stateOf(streamed.result)]).toEqual([asked.id, 'completed'])
    const other = await client.send({ ...answer, text: 'red' })
    expect(other.error.code).toBe(-32602)
    expect(other.error.message).toContain('messageId')
  })

  test('a first message that is sent again makes one task, also without a context', async () => {
    const open = gate()
    const { server } = serve({ held: held(open), other: echo() }, { authenticate: byToken })
    const client = clientOf(server, { assistant: 'held', version, token: 'ann' })
    const words = { text: 'x', messageId: 'm' }
    const { result: begun } = await client.send({ ...words, blocking: false })
    const waits = [client.send(words), client.stream(words), client.send(words)]
    for (const other of [
      await client.send({ ...words, text: 'y', blocking: false }),
      await client.send({ ...words, messageId: 'n', blocking: false }),
      await clientOf(server, { assistant: 'held', version, token: 'bob' }).send({
        ...words,
        blocking: false,
      }),
      await clientOf(server, { assistant: 'other', version, token: 'ann' }).send(words),
    ])
      expect(other.result.contextId).not.toBe(begun.contextId)
    open.open()
    for (const { result, items } of await Promise.all(waits)) expect(items[0]?.id ?? result.id).toBe(begun.id)
    // One message stands for many tasks in the compatibility kit of v1.0.
    const { result: later } = await client.send(words)
    if (version === '0.3') expect(later.id).toBe(begun.id)
    else expect(later.contextId).not.toBe(begun.contextId)
  })

  test('a first message that is sent several times at once makes one task', async () => {
    const open = gate()
    const { server } = serve({ held: held(open) })
    const client = clientOf(server, { assistant: 'held', version })
    const words = { text: 'x', messageId: 'm', blocking: false }
    const sent = await Promise.all([1, 2, 3].map(() => client.send(words)))
    open.open()
    expect(new Set(sent.map(({ result }) => result.id)).size).toBe(1)
    expect((await clientOf(server, { assistant: 'held' }).list()).result.totalSize).toBe(1)
  })

  test('a message is sent once to two servers over one file', async () => {
    const shared = sharedFile()
    const servers = [0, 1].map(() => serve({ graph: graph() }, shared()).server)
    const [here, there] = servers.map((server) => clientOf(server, { assistant: 'graph', version }))
    const words = { text: 'x', messageId: 'm', contextId: 'session-42' }
    const [one, two] = await Promise.all([here!.send(words), there!.send(words)])
    expect(two.result).toEqual(one.result)
    expect(answerOf(one.result)).toBe('You said: x')
    expect((await there!.get(one.result.id)).result).toEqual(one.result)
    const again = await there!.stream(words)
    expect(answerOf({ artifacts: artifactsOf(again.items) })).toBe('You said: x')
  })

  test('a message for a task at work waits for its turn', async () => {
    const open = gate()
    const { server } = serve({ held: held(open) })
    const client = clientOf(server, { assistant: 'held', version })
    const { result: task } = await client.send({ text: 'one', blocking: false })
    const more = client.send({ text: 'two', taskId: task.id, messageId: 'f' })
    const again = client.send({ text: 'two', taskId: task.id, messageId: 'f' })
    await eventually(async () => (await server.engine.measure()).queued === 1)
    await turns(50)
    open.open()
    const { result: done } = await more
    expect((await again).result).toEqual(done)
    expect([done.id, stateOf(done)]).toEqual([task.id, 'completed'])
    expect(turnsOf(done)).toEqual(['user: one', 'agent: half one', 'user: two', 'agent: half two'])
    expect(answerOf(done)).toBe('half two')
  })

  test.each(['working', 'queued'])('a %s task is cancelled, once', async (kind) => {
    const open = gate()
    const { server } = serve({ held: held(open) })
    const client = clientOf(server, { assistant: 'held', version })
    const { result: first } = await client.send({ text: 'one', contextId: 'c', blocking: false })
    const { result: second } = await client.send({ text: 'two', contextId: 'c', blocking: false })
    expect([stateOf(first), stateOf(second)]).toEqual(['working', 'submitted'])
    const task = kind === 'working' ? first : second
    const waits = client.send({ text: 'two', contextId: 'c', messageId: 'last' })
    const { result: cancelled } = await client.cancel(task.id)
    expect([cancelled.id, stateOf(cancelled)]).toEqual([task.id, 'canceled'])
    const again = await client.cancel(task.id)
    if (version === '1.0') expect(again.result).toEqual(cancelled)
    else expect(again.error).toMatchObject({ code: -32002, message: expect.stringContaining('canceled') })
    expect((await client.send({ text: 'x', taskId: task.id })).error.code).toBe(-32004)
    open.open()
    expect(stateOf((await waits).result)).toBe('completed')
    const other = kind === 'working' ? second : first
    expect(stateOf((await client.get(other.id)).result)).toBe('completed')
    expect(stateOf((await client.get(task.id)).result)).toBe('canceled')
    if (kind === 'queued') {
      const { result: queued } = await client.get(second.id)
      expect([queued.history ?? [], queued.artifacts ?? []]).toEqual([[], []])
    }
  })

  test('a task with a message that waits is cancelled with it', async () => {
    const { server } = serve({ held: held(gate()) })
    const client = clientOf(server, { assistant: 'held', version })
    const { result: task } = await client.send({ text: 'one', blocking: false })
    const follow = client.stream({ text: 'two', taskId: task.id, messageId: 'f' })
    const wait = client.send({ text: 'three', taskId: task.id })
    await eventually(async () => (await threads(server, `/${task.contextId}`)).status === 'busy')
    await eventually(async () => (await server.engine.measure()).queued === 2)
    const { result: cancelled } = await client.cancel(task.id)
    expect(stateOf(cancelled)).toBe('canceled')
    expect(turnsOf(cancelled)[0]).toBe('user: one')
    expect(stateOf((await wait).result)).toBe('canceled')
    expect(stateOf((await follow).result)).toBe('canceled')
    const repeated = await client.stream({ text: 'two', taskId: task.id, messageId: 'f' })
    expect(stateOf(repeated.result)).toBe('canceled')
  })

  test('a message that was withdrawn from a task at work is no load, and ends with the task', async () => {
    const open = gate()
    const { server, engine } = serve({ held: held(open) })
    const client = clientOf(server, { assistant: 'held', version })
    const { result: task } = await client.send({ text: 'one', blocking: false })
    const words = { text: 'two', taskId: task.id, messageId: 'f' }
    const waits = [client.send(words), client.stream(words)]
    await eventually(async () => (await engine.measure()).queued === 1)
    const threadId = task.contextId
    const found = await recordOf(engine, { threadId, answerId: task.id.slice(threadId.length + 1) })
    await engine.cancel({ threadId, runId: found!.runIds.at(-1)! })
    await turns(20)
    const before = process.cpuUsage()
    await new Promise((resolve) => setTimeout(resolve, 300))
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(150)
    open.open()
    for (const { result } of await Promise.all(waits)) expect(stateOf(result)).toBe('completed')
    const again = await client.stream(words)
    expect([again.items[0].id, stateOf(again.result)]).toEqual([task.id, 'completed'])
  })

  test('a task whose thread was deleted is gone, for those who wait as well', async () => {
    const { server, errors, engine } = serve({ held: held(gate()), echo: echo() })
    const client = clientOf(server, { assistant: 'held', version })
    const { result: task } = await client.send({ text: 'one', blocking: false })
    const waits = [
      client.send({ text: 'two', taskId: task.id }),
      client.stream({ text: 'three', taskId: task.id }),
      client.subscribe(task.id),
    ]
    await eventually(async () => (await engine.measure()).queued === 2)
    await threads(server, `/${task.contextId}`, undefined, { method: 'DELETE' })
    for (const answer of await Promise.all(waits)) expect(refusal(answer)[0]).toBe(-32001)
    expect((await client.get(task.id)).error.code).toBe(-32001)
    expect((await client.cancel(task.id)).error.code).toBe(-32001)
    expect((await client.send({ text: 'x', taskId: task.id })).error.code).toBe(-32001)
    expect((await clientOf(server, { assistant: 'held' }).list()).result.totalSize).toBe(0)
    const echoes = clientOf(server, { assistant: 'echo', version })
    const { result } = await echoes.send({ text: 'x', contextId: task.contextId })
    expect(turnsOf(result)).toEqual(['user: x', 'agent: You said: x'])
    expect(errors).toEqual([])
  })
})

describe('the list of tasks', () => {
  test('has the tasks of the caller and the assistant, the last changed first, by filters and pages', async () => {
    const { server } = serve({ asks: asks(), echo: echo() }, { authenticate: byToken })
    const ann = clientOf(server, { assistant: 'asks', token: 'ann' })
    const made: Json[] = []
    for (let i = 0; i < 7; i++) {
      const { result: task } = await ann.send({ text: `${i}`, contextId: `c${i}` })
      made.unshift(task)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const answered = made.splice(3, 1)[0]
    await new Promise((resolve) => setTimeout(resolve, 2))
    made.unshift((await ann.send({ text: 'blue', taskId: answered.id })).result)
    await new Promise((resolve) => setTimeout(resolve, 2))
    made.unshift((await ann.send({ text: 'more', contextId: answered.contextId })).result)
    await clientOf(server, { assistant: 'echo', token: 'ann' }).send({ text: 'x' })
    await clientOf(server, { assistant: 'asks', token: 'bob' }).send({ text: 'x' })
    const ids = made.map(({ id }) => id)
    const idsOf = ({ result }: Answer) => result.tasks.map(({ id }: Json) => id)
    const all = await ann.list()
    expect(idsOf(all)).toEqual(ids)
    expect(all.result).toMatchObject({ nextPageToken: '', pageSize: 50, totalSize: 8 })
    for (const task of all.result.tasks)
      expect(Object.keys(task).sort()).toEqual(['contextId', 'id', 'kind', 'status'])

    const pages: string[] = []
    let pageToken = ''
    do {
      const { result } = await ann.list({ pageSize: 3, pageToken })
      expect([result.pageSize, result.totalSize]).toEqual([3, 8])
      pages.push(...idsOf({ result } as Answer))
      pageToken = result.nextPageToken
    } while (pageToken !== '')
    expect(pages).toEqual(ids)

    const waiting = await ann.list({ status: 'TASK_STATE_INPUT_REQUIRED', pageSize: 2 })
    expect([waiting.result.totalSize, idsOf(waiting)]).toEqual([7, [ids[0], ids[2]]])
    expect((await ann.list({ status: 'TASK_STATE_AUTH_REQUIRED' })).result.tasks).toEqual([])
    expect((await ann.list({ status: 'TASK_STATE_REJECTED' })).result).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 50,
      totalSize: 0,
    })
    const of = await ann.list({ contextId: answered.contextId })
    expect([of.result.totalSize, idsOf(of).length]).toEqual([2, 2])
    expect((await ann.list({ contextId: 'never' })).result.totalSize).toBe(0)
    const { timestamp } = made[2].status
    for (const pageSize of [2, 50]) {
      const recent = await ann.list({ statusTimestampAfter: timestamp, pageSize })
      expect([recent.result.totalSize, idsOf(recent)]).toEqual([3, ids.slice(0, Math.min(3, pageSize))])
      expect(recent.result.nextPageToken === '').toBe(pageSize === 50)
    }
    const whole = await ann.list({ includeArtifacts: true, historyLength: 2, pageSize: 2 })
    expect(whole.result.tasks.map(answerOf)).toEqual(['', 'It is "blue".'])
    expect(whole.result.tasks[0].artifacts[0].name).toBe('Interrupt')
    expect(whole.result.tasks.map(({ history }: Json) => history.length)).toEqual([1, 2])
  })

  test.each([
    { pageToken: 'nonsense' },
    { pageToken: '\u0000' },
    { pageToken: 'W10' },
    { pageToken: btoa('["a","b",{"__proto__":1}]') },
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: -1 },
    { pageSize: 1.5 },
    { historyLength: -1 },
    { status: 'working' },
    { status: 99 },
    { statusTimestampAfter: 'yesterday' },
    { statusTimestampAfter: 7 },
    { contextId: 'x'.repeat(513) },
    { includeArtifacts: 'yes' },
  ])('refuses %j', async (filters) => {
    const { server, errors } = serve({ echo: echo() })
    const client = clientOf(server, { assistant: 'echo' })
    await client.send({ text: 'x' })
    const { error } = await client.list(filters)
    expect(error.code).toBe(-32602)
    expect(error.message).toMatch(Object.keys(filters)[0]!)
    expect(errors).toEqual([])
  })

  test('costs the same however many tasks there are', async () => {
    const { server, engine } = serve({ echo: echo() }, { store: memoryStore() })
    const client = clientOf(server, { assistant: 'echo' })
    const { result: task } = await client.send({ text: 'x' })
    const threadId = task.contextId
    const record = (await recordOf(engine, { threadId, answerId: task.id.slice(threadId.length + 1) }))!
    for (let i = 0; i < 5_000; i++) {
      const { op, ...put } = putAnswer({
        ...record,
        taskId: `t${i}`,
        updatedAt: record.updatedAt - i,
      }) as Json
      await internalsOf(engine).store.commit(threadId, { ops: [{ op, ...put }] })
    }
    const before = process.cpuUsage()
    for (let i = 0; i < 10; i++) {
      const { result } = await client.list({ pageSize: 100 })
      expect([result.tasks.length, result.totalSize]).toEqual([100, 5_001])
    }
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(1_000)
    const { result: counted } = await client.list({ contextId: threadId, pageSize: 1 })
    expect(counted.totalSize).toBe(5_001)
  })
})
