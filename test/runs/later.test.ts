import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type AgentEngine, RunError } from '../../src/engine/index.ts'
import { openStorage } from '../../src/storage/open.ts'
import { BACKENDS } from '../kit/backends.ts'
import { engineOf, start } from '../kit/engine.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { eventually } from '../kit/wait.ts'

const threadId = 't'
const LONG = 60_000

const status = async (engine: AgentEngine): Promise<string | undefined> =>
  (await engine.findThread({ threadId }))?.status

describe('a run that starts later', () => {
  test('waits for its time, and its thread is busy', async () => {
    const { agent, finish, tasks } = puppet()
    const engine = engineOf({ a: agent })
    const before = Date.now()
    finish()
    const { runId } = await start(engine, threadId, {}, { startAfterMs: 150, details: {} })
    expect(await status(engine)).toBe('busy')
    expect(await engine.getRun({ threadId, runId })).toMatchObject({ status: 'pending', startedAt: null })
    expect(tasks).toEqual([])
    expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
    expect(Date.now() - before).toBeGreaterThanOrEqual(150)
    expect(await status(engine)).toBe('idle')
  })

  test('is cancelled before it begins, and the thread is as it was before', async () => {
    const { agent, fail, tasks } = puppet()
    const engine = engineOf({ a: agent }, { onError: () => {} })
    fail(new Error('No.'))
    const failed = await start(engine, threadId)
    await engine.wait({ threadId, runId: failed.runId })
    const { runId } = await start(engine, threadId, {}, { startAfterMs: LONG, details: {} })
    expect(await status(engine)).toBe('busy')
    await engine.cancel({ threadId, runId })
    expect(await status(engine)).toBe('error')
    expect(await engine.getRun({ threadId, runId })).toMatchObject({
      status: 'interrupted',
      end: { reason: 'cancelled' },
    })
    expect(tasks).toHaveLength(1)
  })

  test('lets other runs start first, and the thread stays busy between them', async () => {
    const { agent, finish } = puppet()
    const engine = engineOf({ a: agent })
    const later = await start(engine, threadId, {}, { startAfterMs: LONG, details: {} })
    finish()
    const { runId } = await start(engine, threadId)
    expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
    expect(await status(engine)).toBe('busy')
    await engine.cancel({ threadId, runId: later.runId })
    expect(await status(engine)).toBe('idle')
  })

  test('refuses writes to the state, and runs that do not want to wait', async () => {
    const engine = engineOf({ a: puppet().agent })
    await start(engine, threadId, {}, { startAfterMs: LONG })
    await expect(engine.writeState({ threadId, values: {} })).rejects.toMatchObject({ code: 'thread_busy' })
    await expect(start(engine, threadId, {}, { multitaskStrategy: 'reject' })).rejects.toThrow(RunError)
  })

  test.each(['interrupt', 'rollback'] as const)('is dropped by a run with %s', async (multitaskStrategy) => {
    const { agent, finish } = puppet()
    const engine = engineOf({ a: agent })
    const later = await start(engine, threadId, {}, { startAfterMs: LONG, details: {} })
    finish()
    const { runId } = await start(engine, threadId, {}, { multitaskStrategy })
    await engine.wait({ threadId, runId })
    const dropped = await engine.getRun({ threadId, runId: later.runId })
    expect(dropped?.status).toBe(multitaskStrategy === 'interrupt' ? 'interrupted' : undefined)
    expect(await status(engine)).toBe('idle')
  })
})

describe.each(BACKENDS)('over $name', ({ installed, create }) => {
  test.skipIf(!installed())(
    'a run that starts later is started by another process when the first has ended',
    async () => {
      const { url, remove } = await create()
      onTestFinished(remove)
      const options = { leaseTtlMs: 600, sweepMs: 300 }
      const first = await openStorage(url)
      const one = engineOf({ a: puppet().agent }, { ...first, ...options })
      const { runId } = await start(one, threadId, {}, { startAfterMs: 700, details: { kept: true } })
      await one.close()
      await first.close()

      const second = await openStorage(url)
      const { agent, finish } = puppet()
      const two = engineOf({ a: agent }, { ...second, ...options })
      onTestFinished(async () => {
        await two.close()
        await second.close()
      })
      finish()
      // Nobody asks for the run: the instance finds it by itself.
      await eventually(async () => (await two.getRun({ threadId, runId }))?.status === 'success')
      expect(await two.getRun({ threadId, runId })).toMatchObject({ details: { kept: true } })
    },
  )
})

describe('the runs of a thread', () => {
  test('are listed newest first, a page at a time, and only those that are asked for', async () => {
    const { agent, finish } = puppet()
    const engine = engineOf({ a: agent })
    const ids: string[] = []
    for (let at = 0; at < 5; at++) {
      finish()
      const { runId } = await start(engine, threadId, {}, { details: { at } })
      await engine.wait({ threadId, runId })
      ids.unshift(runId)
      // Ids of one millisecond have no order.
      await sleep(2)
    }
    const list = async (query: object) =>
      (await engine.listRuns({ threadId, ...query })).map(({ runId }) => runId)
    expect(await list({})).toEqual(ids)
    expect(await list({ limit: 2, offset: 1 })).toEqual(ids.slice(1, 3))
    expect(await list({ accept: ({ runId }: { runId: string }) => runId === ids[3] })).toEqual([ids[3]])
    await expect(engine.listRuns({ threadId: 'other' })).rejects.toMatchObject({ code: 'no_such_thread' })
    await expect(engine.listRuns({ threadId, principal: { id: 'ann' } })).rejects.toMatchObject({
      code: 'no_such_thread',
    })
  })

  test('are deleted one by one, after they were cancelled', async () => {
    const { agent, emit } = puppet()
    const engine = engineOf({ a: agent })
    emit(custom(1))
    const { runId } = await start(engine, threadId, {}, { details: {} })
    expect(await engine.deleteRun({ threadId, runId, principal: { id: 'ann' } })).toBe(false)
    expect(await engine.deleteRun({ threadId, runId })).toBe(true)
    expect(await engine.getRun({ threadId, runId })).toBeUndefined()
    expect(await engine.deleteRun({ threadId, runId })).toBe(false)
    expect(await status(engine)).toBe('idle')
  })

  test('leave no record when they have details and are rolled back', async () => {
    const { agent } = puppet()
    const engine = engineOf({ a: agent })
    const kept = await start(engine, threadId)
    await engine.cancel({ threadId, runId: kept.runId, action: 'rollback' })
    await engine.wait({ threadId, runId: kept.runId })
    expect(await engine.getRun({ threadId, runId: kept.runId })).toMatchObject({ status: 'interrupted' })
    const { runId } = await start(engine, threadId, {}, { details: {} })
    const ended = engine.wait({ threadId, runId })
    await engine.cancel({ threadId, runId, action: 'rollback' })
    expect(await ended).toMatchObject({ status: 'interrupted' })
    expect(await engine.getRun({ threadId, runId })).toBeUndefined()
  })
})
