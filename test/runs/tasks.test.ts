import { expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { engineOf } from '../kit/engine.ts'
import { eventually } from '../kit/wait.ts'

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

const input = { messages: [{ type: 'human', content: 'hi' }] }

test('a task has the state of its run', async () => {
  const engine = engineOf({ echo, fails })
  const done = await engine.start({ threadId: 't', assistantId: 'echo', input, task: { details } })
  await engine.wait({ threadId: 't', runId: done.runId })
  expect(await engine.findTask({ threadId: 't', taskId: done.runId })).toMatchObject({
    taskId: done.runId,
    runIds: [done.runId],
    state: 'completed',
    details,
    assistantId: 'echo',
    error: null,
  })
  const failed = await engine.start({ threadId: 'f', assistantId: 'fails', input, task: { details } })
  await engine.wait({ threadId: 'f', runId: failed.runId })
  const task = await engine.findTask({ threadId: 'f', taskId: failed.runId })
  expect(task?.state).toBe('failed')
  expect(task?.error).toContain('no')
  await engine.close()
})

test('an answer goes on with the task that asked, whoever gives it', async () => {
  const engine = engineOf({ asks })
  const asked = await engine.start({ threadId: 't', assistantId: 'asks', input, task: { details } })
  const { interrupts } = await engine.wait({ threadId: 't', runId: asked.runId })
  expect((await engine.findTask({ threadId: 't', taskId: asked.runId }))?.state).toBe('input-required')
  const answered = await engine.respond({ threadId: 't', answers: { [interrupts[0]!.id]: 'blue' } })
  await engine.wait({ threadId: 't', runId: answered.runId })
  const task = await engine.findTask({ threadId: 't', taskId: answered.runId })
  expect(task).toMatchObject({
    taskId: asked.runId,
    runIds: [asked.runId, answered.runId],
    state: 'completed',
  })
  await expect(
    engine.start({ threadId: 't', input, task: { taskId: asked.runId, details } }),
  ).rejects.toMatchObject({
    code: 'task_ended',
  })
  await expect(engine.start({ threadId: 't', input, task: { taskId: 'x', details } })).rejects.toMatchObject({
    code: 'no_such_task',
  })
  await engine.close()
})

test('a task works until the last of its messages is done, and is cancelled with it', async () => {
  const engine = engineOf({ never })
  const first = await engine.start({ threadId: 't', assistantId: 'never', input, task: { details } })
  const taskId = first.runId
  const second = await engine.start({ threadId: 't', input, task: { taskId, details } })
  const state = async () => (await engine.findTask({ threadId: 't', taskId }))?.state
  expect(await state()).toBe('working')
  expect((await engine.findTask({ threadId: 't', taskId }))?.runIds).toEqual([taskId, second.runId])
  await engine.cancel({ threadId: 't', runId: first.runId })
  await engine.wait({ threadId: 't', runId: first.runId })
  expect(await state()).toBe('working')
  await eventually(async () => (await engine.measure()).queued === 0)
  expect((await engine.findTask({ threadId: 't', taskId }))?.runIds).toEqual([taskId, second.runId])
  await engine.cancel({ threadId: 't', runId: second.runId })
  await engine.wait({ threadId: 't', runId: second.runId })
  expect(await state()).toBe('canceled')
  await engine.close()
})

test('a message that waits is withdrawn without ending the task that works', async () => {
  const engine = engineOf({ never })
  const first = await engine.start({ threadId: 't', assistantId: 'never', input, task: { details } })
  const second = await engine.start({ threadId: 't', input, task: { taskId: first.runId, details } })
  await engine.cancel({ threadId: 't', runId: second.runId })
  expect((await engine.findTask({ threadId: 't', taskId: first.runId }))?.state).toBe('working')
  await engine.close()
})

test('tasks are listed by owner, assistant and state, the last changed first', async () => {
  const engine = engineOf({ echo, asks }, { store: memoryStore(), checkpointer: memoryCheckpointer() })
  const ids: string[] = []
  for (const threadId of ['a', 'b', 'c']) {
    const principal = { id: 'ann' }
    const { runId } = await engine.start({
      threadId,
      principal,
      assistantId: 'echo',
      input,
      task: { details },
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
    task: { details },
  })
  await engine.wait({ threadId: 'd', principal: { id: 'ann' }, runId: asked.runId })
  const list = (query: object = {}) =>
    engine.listTasks({ principal: { id: 'ann' }, assistantId: 'echo', limit: 2, ...query })
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
  expect(await engine.findTask({ threadId: 'a', principal: { id: 'bob' }, taskId: ids[2]! })).toBeUndefined()
  await engine.close()
})

test('a run that nobody started as a task can be found as one', async () => {
  const engine = engineOf({ echo })
  const { runId } = await engine.start({ threadId: 't', assistantId: 'echo', input })
  await engine.wait({ threadId: 't', runId })
  expect(await engine.findTask({ threadId: 't', taskId: runId })).toMatchObject({
    taskId: runId,
    state: 'completed',
  })
  expect((await engine.listTasks({ assistantId: 'echo', limit: 10 })).total).toBe(0)
  await engine.close()
})
