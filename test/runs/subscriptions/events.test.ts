import { describe, expect, onTestFinished, test } from 'vitest'
import { readToEnd } from '../../../src/engine/index.ts'
import type { RunToEnd } from '../../../src/engine/subscriptions/events.ts'
import { engineOf, start } from '../../kit/engine.ts'
import { custom, puppet } from '../../kit/puppet.ts'
import { sharedMemory } from '../../kit/shared.ts'

/** An engine that runs, and the one that reads: itself, or another one over the same store. */
function instances(who: 'itself' | 'another', bounds?: Parameters<typeof sharedMemory>[0]) {
  const shared = sharedMemory(bounds)
  const actor = puppet()
  const engine = engineOf({ a: actor.agent }, { ...shared(), leaseTtlMs: 1_000 })
  onTestFinished(() => engine.close())
  const reader = who === 'itself' ? engine : engineOf({ a: actor.agent }, { ...shared(), leaseTtlMs: 1_000 })
  onTestFinished(() => reader.close())
  const read = async (runId: string, query: Partial<RunToEnd> = {}) => {
    const taken: unknown[] = []
    const take: RunToEnd['take'] = ({ method, data }) => {
      if (method === 'custom') taken.push((data as { payload: unknown }).payload)
      else taken.push((data as { event: unknown }).event)
    }
    const run = await readToEnd(reader, { threadId: 't', runId, take, ...query })
    return { taken, status: run?.status }
  }
  return { actor, engine, read }
}

describe.each(['itself', 'another'] as const)('an engine reads what %s runs', (who) => {
  test('to its end, and takes the events of this run alone', async () => {
    const { actor, engine, read } = instances(who)
    const first = await start(engine, 't')
    const second = await start(engine, 't')
    const reading = [
      read(first.runId),
      read(second.runId),
      read(first.runId, { filter: { channels: ['custom'] } }),
    ]
    actor.emit(custom(1))
    actor.finish()
    await engine.wait({ threadId: 't', runId: first.runId })
    actor.emit(custom(2))
    actor.finish()
    expect(await Promise.all(reading)).toEqual([
      { taken: ['running', 1, 'completed'], status: 'success' },
      { taken: ['running', 2, 'completed'], status: 'success' },
      { taken: [1], status: 'success' },
    ])
    expect(await read(first.runId, { after: 1 })).toEqual({ taken: [1, 'completed'], status: 'success' })
  })

  test('and takes what the log still has', async () => {
    const { actor, engine, read } = instances(who, { maxThreadBytes: 2_000 })
    const { runId } = await start(engine, 't')
    const reading = read(runId)
    actor.emit(...Array.from({ length: 50 }, (_, at) => custom('x'.repeat(100) + at)))
    actor.finish()
    const { taken, status } = await reading
    expect([taken.at(-1), status]).toEqual(['completed', 'success'])
    expect(taken).not.toContain(undefined)
  })

  test('and gives no record of a run that was deleted', async () => {
    const { actor, engine, read } = instances(who)
    const { runId } = await start(engine, 't')
    const reading = read(runId)
    actor.finish()
    await engine.wait({ threadId: 't', runId })
    expect((await reading).status).toBe('success')
    await engine.deleteRun({ threadId: 't', runId })
    await expect(read(runId)).rejects.toMatchObject({ code: 'no_such_run' })
  })
})
