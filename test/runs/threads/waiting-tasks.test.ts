import { describe, expect, onTestFinished, test } from 'vitest'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { type AgentEngine, cancelAnswer, untilAnswered } from '../../../src/engine/index.ts'
import { DATABASES } from '../../kit/databases.ts'
import { engineOf } from '../../kit/engine.ts'

const asks = defineAgent({
  async run({ interrupt, message }) {
    await message(`It is ${await interrupt<string>('Which?')}.`)
  },
})

/** Starts a run that waits for its time. A message for another task is no answer to the one that asks. */
const startLater = (engine: AgentEngine) =>
  engine.start({
    threadId: 't',
    assistantId: 'asks',
    input: { messages: [] },
    startAfterMs: 60_000,
    answer: { details: { contextId: 't' } },
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
      answer: { details: { contextId: 't' } },
    })
    const { interrupts } = await here.wait({ threadId: 't', runId: taskId })
    return { here, there, taskId, interruptId: interrupts[0]!.id }
  }

  test('is awaited until another instance is given the answer', async () => {
    const { here, there, taskId, interruptId } = await asked()
    const waiting = untilAnswered(there, { threadId: 't', answerId: taskId })
    const { runId } = await here.respond({ threadId: 't', answers: { [interruptId]: 'blue' } })
    expect((await waiting)?.record).toMatchObject({ taskId, runIds: [taskId, runId] })
    await here.wait({ threadId: 't', runId })
  })

  test('is awaited until another instance cancels it', async () => {
    const { here, there, taskId } = await asked()
    const waiting = untilAnswered(there, { threadId: 't', answerId: taskId })
    await cancelAnswer(here, { threadId: 't', answerId: taskId })
    expect((await waiting)?.record).toMatchObject({ taskId, runIds: [taskId], state: 'canceled' })
  })

  test('is cancelled while a run waits for its time: the thread stays busy, and is idle when that run is gone', async () => {
    const { here, there, taskId } = await asked()
    const later = await startLater(there)
    expect(await here.findThread({ threadId: 't' })).toMatchObject({ status: 'busy' })
    await cancelAnswer(here, { threadId: 't', answerId: taskId })
    expect(await there.findThread({ threadId: 't' })).toMatchObject({ status: 'busy', interrupts: [] })
    await here.cancel({ threadId: 't', runId: later.runId })
    expect(await there.findThread({ threadId: 't' })).toMatchObject({ status: 'idle', interrupts: [] })
  })

  test('is the active answer of its thread until another one waits for its turn, and none is active after both', async () => {
    const { here, there, taskId } = await asked()
    const active = async () => (await there.findAnswer({ threadId: 't' }))?.record.taskId
    expect(await active()).toBe(taskId)
    const later = await startLater(there)
    expect(await active()).toBe(later.runId)
    await here.cancel({ threadId: 't', runId: later.runId })
    expect(await active()).toBe(taskId)
    await cancelAnswer(here, { threadId: 't', answerId: taskId })
    expect(await active()).toBeUndefined()
  })

  test('is awaited no longer where the caller leaves, where the engine closes, or where it is gone', async () => {
    const { here, there, taskId } = await asked()
    const leaving = new AbortController()
    const left = untilAnswered(there, { threadId: 't', answerId: taskId, signal: leaving.signal })
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    const waiting = untilAnswered(there, { threadId: 't', answerId: taskId })
    await there.close()
    await expect(waiting).rejects.toMatchObject({ code: 'closing' })
    expect(await untilAnswered(here, { threadId: 't', answerId: 'none' })).toBeUndefined()
  })
})
