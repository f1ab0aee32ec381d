import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AgentRejection, defineAgent, memoryCheckpointer, memoryStore } from '../../src/index.ts'
import { asksTwice, held } from '../a2a/served-agents.ts'
import type { Json } from '../kit/events.ts'
import { eventually, gate } from '../kit/wait.ts'
import { rpc, type Served, served, threadOf } from './served.ts'

/** Every call is a task at once, unless it is done in the same moment. */
const AT_ONCE = { tasks: { afterMs: 0 } }

const call = async (at: Served, name: string, args: Json = { message: 'hi' }): Promise<Json> =>
  (await rpc(at, 'tools/call', { name, arguments: args })).result

const get = async (at: Served, taskId: string): Promise<Json> =>
  (await rpc(at, 'tasks/get', { taskId })).result

async function settled(at: Served, taskId: string, ...statuses: readonly string[]): Promise<Json> {
  let task: Json
  await eventually(async () => {
    task = await get(at, taskId)
    return statuses.includes(task.status)
  })
  return task
}

test('a call that takes long is a task, whose result is that of the call', async () => {
  const { opened, open } = gate()
  const at = await served({ held: held({ opened, open }) }, AT_ONCE)
  const task = await call(at, 'held', { message: 'done' })
  expect(task).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 2_000 })
  expect(await get(at, task.taskId)).toMatchObject({ resultType: 'complete', status: 'working' })
  open()
  const { result, ...ended } = await settled(at, task.taskId, 'completed')
  expect(ended).toMatchObject({ taskId: task.taskId, createdAt: task.createdAt })
  expect(result.content[0]).toEqual({ type: 'text', text: 'half done' })
  const params = { name: 'held', arguments: { message: 'more', threadId: threadOf(result) } }
  const next = await rpc(at, 'tools/call', params, { capabilities: {} })
  expect(next.result.content[0].text).toBe('half more')
  // What came later is not of it.
  expect((await get(at, task.taskId)).result.content[0].text).toBe('half done')
})

test('a call whose progress is told becomes a task all the same', async () => {
  const { opened, open } = gate()
  const at = await served({ held: held({ opened, open }) }, AT_ONCE)
  const params = { name: 'held', arguments: { message: 'done' }, _meta: { progressToken: 'p' } }
  const { result } = await rpc(at, 'tools/call', params)
  expect(result.resultType).toBe('task')
  open()
  expect((await settled(at, result.taskId, 'completed')).result.content[0].text).toBe('half done')
})

test('a client that cannot follow tasks waits, and may not ask for one', async () => {
  const at = await served(
    { chat: defineAgent({ run: ({ message }) => message('hi').then(() => undefined) }) },
    AT_ONCE,
  )
  const capabilities = {}
  const { result } = await rpc(
    at,
    'tools/call',
    { name: 'chat', arguments: { message: 'x' } },
    { capabilities },
  )
  expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'hi' }, {}] })
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const { status, error } = await rpc(at, method, { taskId: 'x' }, { capabilities })
    expect([status, error.code, error.data.requiredCapabilities.extensions]).toEqual([
      400,
      -32021,
      { 'io.modelcontextprotocol/tasks': {} },
    ])
  }
})

test('a task that is cancelled stops its run', async () => {
  const { opened, open } = gate()
  const at = await served({ held: held({ opened, open }) }, AT_ONCE)
  const { taskId } = await call(at, 'held')
  const { result } = await rpc(at, 'tasks/cancel', { taskId })
  expect(Object.keys(result).filter((key) => key !== '_meta')).toEqual(['resultType'])
  await settled(at, taskId, 'cancelled')
  expect((await rpc(at, 'tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' })
})

test('a run that has failed is a result, one that the agent has declined an error', async () => {
  const later = (error: Error) =>
    defineAgent({
      async run({ message }) {
        await message('so far')
        throw error
      },
    })
  const at = await served(
    { fails: later(new Error('secret')), declines: later(new AgentRejection('Not today.')) },
    AT_ONCE,
  )
  const failed = await settled(at, (await call(at, 'fails')).taskId, 'completed')
  expect(failed.result.isError).toBe(true)
  expect(JSON.stringify(failed)).not.toContain('secret')
  const declined = await settled(at, (await call(at, 'declines')).taskId, 'failed')
  expect(declined).toMatchObject({ error: { code: -32000, message: 'Not today.' } })
  expect(declined.result).toBeUndefined()
})

describe('the questions of a task', () => {
  const accept = (answer: string) => ({ action: 'accept', content: { answer } })

  test('are answered one at a time, and it goes on after the last', async () => {
    const at = await served({ asks: asksTwice() }, AT_ONCE)
    const { taskId } = await call(at, 'asks')
    const { inputRequests } = await settled(at, taskId, 'input_required')
    const [left, right] = Object.keys(inputRequests)
    const ack = await rpc(at, 'tasks/update', { taskId, inputResponses: { [left!]: accept('l') } })
    expect(Object.keys(ack.result).filter((key) => key !== '_meta')).toEqual(['resultType'])
    const half = await get(at, taskId)
    expect([half.status, Object.keys(half.inputRequests)]).toEqual(['input_required', [right]])
    for (const responses of [
      {},
      { unknown: accept('x') },
      { [right!]: { action: 'cancel' } },
      { [right!]: 7 },
    ])
      await rpc(at, 'tasks/update', { taskId, inputResponses: responses })
    expect((await get(at, taskId)).status).toBe('input_required')
    await rpc(at, 'tasks/update', { taskId, inputResponses: { [right!]: accept('r') } })
    const { result } = await settled(at, taskId, 'completed')
    expect(result.content[0].text).toBe('right r')
    const runs = await at.server.engine.listRuns({ threadId: taskId.slice(0, taskId.lastIndexOf(':')) })
    expect(runs).toHaveLength(2)
  })

  test('have keys of their own, also where an agent asks twice at one place', async () => {
    const { opened, open } = gate()
    const twice = defineAgent({
      async run({ interrupt, message }) {
        await opened
        await message(`${await interrupt('Again?')} ${await interrupt('Again?')}`)
      },
    })
    const at = await served({ twice }, AT_ONCE)
    const { taskId } = await call(at, 'twice')
    open()
    const [first] = Object.keys((await settled(at, taskId, 'input_required')).inputRequests)
    await rpc(at, 'tasks/update', { taskId, inputResponses: { [first!]: accept('a') } })
    let second: string | undefined
    await eventually(async () => {
      second = Object.keys((await get(at, taskId)).inputRequests ?? {})[0]
      return second !== undefined && second !== first
    })
    // A late answer to the first one is none to the second.
    await rpc(at, 'tasks/update', { taskId, inputResponses: { [first!]: accept('late') } })
    await rpc(at, 'tasks/update', { taskId, inputResponses: { [second!]: accept('b') } })
    const { result } = await settled(at, taskId, 'completed')
    expect(result.content[0].text).toBe('a b')
  })
})

test('a task is unknown to others, and under ids that are none', async () => {
  const { opened, open } = gate()
  const authenticate = ({ headers }: Request) => ({
    id: headers.get('x-user')!,
    tenant: headers.get('x-tenant')!,
  })
  const at = await served({ held: held({ opened, open }) }, AT_ONCE, { authenticate })
  const as = (user: string, tenant: string) => ({ headers: { 'x-user': user, 'x-tenant': tenant } })
  const { result } = await rpc(
    at,
    'tools/call',
    { name: 'held', arguments: { message: 'x' } },
    as('ann', 'a'),
  )
  const { taskId } = result
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
    const { error } = await rpc(at, method, { taskId, inputResponses: {} }, as('bob', 'b'))
    expect([method, error.code]).toEqual([method, -32602])
  }
  for (const id of [`${taskId}x`, 'x', `${taskId.slice(0, taskId.lastIndexOf(':'))}:`, 'x'.repeat(2_000)])
    expect((await rpc(at, 'tasks/get', { taskId: id }, as('ann', 'a'))).error.code).toBe(-32602)
  expect((await rpc(at, 'tasks/get', { taskId }, as('eve', 'a'))).result.status).toBe('working')
  open()
})

test('a task that one instance has begun is followed, answered and cancelled on another', async () => {
  const storage = { store: memoryStore(), checkpointer: memoryCheckpointer() }
  const agents = { asks: asksTwice() }
  const one = await served(agents, AT_ONCE, storage)
  const two = await served(agents, AT_ONCE, storage)
  const { taskId } = await call(one, 'asks')
  const { inputRequests } = await settled(two, taskId, 'input_required')
  const answers = Object.keys(inputRequests).map((key) => [
    key,
    { action: 'accept', content: { answer: 'x' } },
  ])
  await rpc(two, 'tasks/update', { taskId, inputResponses: Object.fromEntries(answers) })
  expect((await settled(one, taskId, 'completed')).result.content[0].text).toBe('right x')
})

test('typed arguments are checked before a task begins', async () => {
  const typed = defineAgent({ input: z.object({ n: z.number() }), run: () => ({}) })
  const at = await served({ typed }, AT_ONCE)
  expect(await call(at, 'typed', { n: 'x' })).toMatchObject({ resultType: 'complete', isError: true })
})
