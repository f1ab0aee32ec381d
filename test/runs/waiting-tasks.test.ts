import { describe, expect, onTestFinished, test } from 'vitest'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { DATABASES } from '../kit/databases.ts'
import { engineOf } from '../kit/engine.ts'

const asks = defineAgent({
  async run({ interrupt, message }) {
    await message(`It is ${await interrupt<string>('Which?')}.`)
  },
})

describe.each(Object.entries(DATABASES))('a task that waits, over %s', (_, create) => {
  async function asked() {
    const open = await create()
    const [here, there] = [engineOf({ asks }, await open()), engineOf({ asks }, await open())]
    onTestFinished(() => here.close())
    onTestFinished(() => there.close())
    const { runId: taskId } = await here.start({
      threadId: 't',
      assistantId: 'asks',
      input: { messages: [] },
      task: { details: { contextId: 't' } },
    })
    const { interrupts } = await here.wait({ threadId: 't', runId: taskId })
    return { here, there, taskId, interruptId: interrupts[0]!.id }
  }

  test('is awaited until another instance is given the answer', async () => {
    const { here, there, taskId, interruptId } = await asked()
    const waiting = there.waitForAnswer({ threadId: 't', taskId })
    const { runId } = await here.respond({ threadId: 't', answers: { [interruptId]: 'blue' } })
    expect(await waiting).toMatchObject({ taskId, runIds: [taskId, runId] })
    await here.wait({ threadId: 't', runId })
  })

  test('is awaited until another instance cancels it', async () => {
    const { here, there, taskId } = await asked()
    const waiting = there.waitForAnswer({ threadId: 't', taskId })
    await here.cancelTask({ threadId: 't', taskId })
    expect(await waiting).toMatchObject({ taskId, runIds: [taskId], state: 'canceled' })
  })

  test('is cancelled while a run waits for its time: the thread stays busy, and is idle when that run is gone', async () => {
    const { here, there, taskId } = await asked()
    const later = await there.start({
      threadId: 't',
      assistantId: 'asks',
      input: { messages: [] },
      startAfterMs: 60_000,
      // A message for another task is no answer to this one.
      task: { details: { contextId: 't' } },
    })
    expect(await here.findThread({ threadId: 't' })).toMatchObject({ status: 'busy' })
    await here.cancelTask({ threadId: 't', taskId })
    expect(await there.findThread({ threadId: 't' })).toMatchObject({ status: 'busy', interrupts: [] })
    await here.cancel({ threadId: 't', runId: later.runId })
    expect(await there.findThread({ threadId: 't' })).toMatchObject({ status: 'idle', interrupts: [] })
  })

  test('is awaited no longer where the caller leaves, where the engine closes, or where it is gone', async () => {
    const { here, there, taskId } = await asked()
    const leaving = new AbortController()
    const left = there.waitForAnswer({ threadId: 't', taskId, signal: leaving.signal })
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    const waiting = there.waitForAnswer({ threadId: 't', taskId })
    await there.close()
    await expect(waiting).rejects.toMatchObject({ code: 'closing' })
    expect(await here.waitForAnswer({ threadId: 't', taskId: 'none' })).toBeUndefined()
  })
})
